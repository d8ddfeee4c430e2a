"""The web port: set-up page, autoconfiguration of mail clients, health and metrics.

The rule: nothing here decides or changes anything (a GET never does), and nothing here tells a secret or a mail.
"""
