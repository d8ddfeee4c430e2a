"""The demo as it is shown, with other stories, and broken on purpose."""
