"""The kinds of triggers, one file each: those that go by the clock, and those that something outside sets off.

The rule: a file has `KIND`, its name, and `read(text)`, which gives a Rule, None for text that is not of its form, or
raises SpecFault for text of its form that is wrong. No kind knows another, the time, the database or mail.
"""
