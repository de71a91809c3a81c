@_exported public import HLSCaptions
@_exported public import HLSMedia
@_exported public import HLSPlaylist
@_exported public import HLSTime
