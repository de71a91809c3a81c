package import HLSKitLoading
import HLSKitMedia
package import HLSKitPlaylist

/// The CMCD facts of media, from the declarations of playlists.
extension ClientDataFacts {
    /// Creates the facts of a segment that is not loaded for display.
    package init(segmentOf duration: Duration, _ type: ObjectType?, isLive: Bool) {
        self.init()
        (isNotRendered, self.duration, objectType) = (true, duration, type)
        streamType = isLive ? .live : .onDemand
    }
}

extension AssetVariant {
    /// The object type of the variant's own segments.
    package var objectType: ClientDataFacts.ObjectType {
        guard hasVideo else { return .audio }
        return ClientDataFacts.ObjectType(codecs: codecs) == .video ? .video : .muxed
    }
}

extension ClientDataFacts.ObjectType {
    /// Creates the object type, or returns nil if the codecs declare neither audio nor video.
    package init?(codecs: [String]) {
        let types = Set(codecs.map { CodecString(rawValue: $0).mediaType })
        switch (types.contains(.video), types.contains(.audio)) {
        case (true, true): self = .muxed
        case (true, false): self = .video
        case (false, true): self = .audio
        case (false, false): return nil
        }
    }
}

extension MediaPlaylist {
    /// The object type of subtitles: timed text in MP4 if the playlist has an initialization section, otherwise text.
    package var objectTypeOfSubtitles: ClientDataFacts.ObjectType {
        segments.first?.map == nil ? .caption : .timedText
    }
}
