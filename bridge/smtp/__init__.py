"""Submission by SMTP (RFC 6409): takes mail from the account's own user, and from nobody else."""
