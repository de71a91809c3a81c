// The module that apps import. Each of the modules below can be read, built and tested separately.

@_exported public import HLSKitAsset
@_exported public import HLSKitCaptions
@_exported public import HLSKitCodec
@_exported public import HLSKitDownload
@_exported public import HLSKitEngine
@_exported public import HLSKitImaging
@_exported public import HLSKitLoading
@_exported public import HLSKitMedia
@_exported public import HLSKitNetwork
@_exported public import HLSKitOutput
@_exported public import HLSKitPlayback
@_exported public import HLSKitPlaylist
@_exported public import HLSKitSelection
@_exported public import HLSKitTime
