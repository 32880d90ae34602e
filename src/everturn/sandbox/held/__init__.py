"""What nobody approved: commands that only read, or only edit the working folders, held by the operating system."""
