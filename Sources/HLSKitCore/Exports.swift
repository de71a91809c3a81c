// What appears in the public interface of this module comes with it: of media and captions the values, not what reads and
// writes files of them. Who demuxes or converts captions imports HLSMedia or HLSCaptions.

@_exported public import HLSPlaylist
@_exported public import HLSTime

@_exported public import struct HLSCaptions.Caption
@_exported public import struct HLSCaptions.CaptionColor
@_exported public import struct HLSCaptions.CaptionDimension
@_exported public import struct HLSCaptions.CaptionPoint
@_exported public import struct HLSCaptions.CaptionRegion
@_exported public import struct HLSCaptions.CaptionRuby
@_exported public import struct HLSCaptions.CaptionScene
@_exported public import struct HLSCaptions.CaptionSize
@_exported public import struct HLSCaptions.CaptionStyle
@_exported public import struct HLSCaptions.ClosedCaption
@_exported public import struct HLSCaptions.ClosedCaptionService
@_exported public import struct HLSMedia.CleanAperture
@_exported public import struct HLSMedia.ColorInformation
@_exported public import struct HLSMedia.ContentLightLevelInfo
@_exported public import struct HLSMedia.MasteringDisplayColorVolume
@_exported public import struct HLSMedia.MediaCodec
@_exported public import struct HLSMedia.MediaSample
@_exported public import struct HLSMedia.MediaTrack
@_exported public import enum HLSMedia.MediaType
@_exported public import struct HLSMedia.PixelAspectRatio
@_exported public import class HLSMedia.SampleData
@_exported public import struct HLSMedia.SpliceInformation
@_exported public import struct HLSMedia.SpliceSegmentation
@_exported public import struct HLSMedia.TrackTransform
