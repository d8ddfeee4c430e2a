"""Sockets: listening, certificates and limits of connections and logins; knows nothing of any mail protocol."""
