"""What survives SIGKILL at every point where a crash would matter."""
