"""The IMAP server: sans-IO wire layer, commands as data, one extension a file."""
