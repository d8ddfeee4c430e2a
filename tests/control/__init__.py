"""The control socket and the commands behind it, with a real store and real sockets."""
