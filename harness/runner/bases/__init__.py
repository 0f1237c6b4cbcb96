"""Where a side of a comparison comes from: a commit that is run in a work tree of its own, an archive, a folder."""
