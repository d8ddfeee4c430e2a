"""The demo: the main job from end to end with a real server and real mail clients, checked at every step.

The rule: nothing here is known to the server; it sees a user's mail client and a relay, as it would anywhere.
"""
