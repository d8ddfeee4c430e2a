"""Between mail and agents: what comes in becomes letters and decisions, what agents say becomes mail.

The rule: knows nothing of IMAP or SMTP; whoever carries the bytes hands them in and takes them out.
"""
