// What appears in the public interface of this module comes with it: of media and captions the values, not what reads and
// writes files of them. Who demuxes or converts captions imports HLSKitMedia or HLSKitCaptions.

@_exported public import HLSKitPlaylist
@_exported public import HLSKitTime

@_exported public import struct HLSKitCaptions.Caption
@_exported public import struct HLSKitCaptions.CaptionColor
@_exported public import struct HLSKitCaptions.CaptionDimension
@_exported public import struct HLSKitCaptions.CaptionPoint
@_exported public import struct HLSKitCaptions.CaptionRegion
@_exported public import struct HLSKitCaptions.CaptionRuby
@_exported public import struct HLSKitCaptions.CaptionScene
@_exported public import struct HLSKitCaptions.CaptionSize
@_exported public import struct HLSKitCaptions.CaptionStyle
@_exported public import struct HLSKitCaptions.ClosedCaption
@_exported public import struct HLSKitCaptions.ClosedCaptionService
@_exported public import struct HLSKitMedia.CleanAperture
@_exported public import struct HLSKitMedia.ColorInformation
@_exported public import struct HLSKitMedia.ContentLightLevelInfo
@_exported public import struct HLSKitMedia.MasteringDisplayColorVolume
@_exported public import struct HLSKitMedia.MediaCodec
@_exported public import struct HLSKitMedia.MediaSample
@_exported public import struct HLSKitMedia.MediaTrack
@_exported public import enum HLSKitMedia.MediaType
@_exported public import struct HLSKitMedia.PixelAspectRatio
@_exported public import class HLSKitMedia.SampleData
@_exported public import struct HLSKitMedia.SpliceInformation
@_exported public import struct HLSKitMedia.SpliceSegmentation
@_exported public import struct HLSKitMedia.TrackTransform
