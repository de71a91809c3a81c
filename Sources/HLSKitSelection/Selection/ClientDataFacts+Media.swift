package import HLSKitLoading
import HLSKitMedia
package import HLSKitPlaylist

extension ClientDataFacts {
    /// Creates the facts of a segment that is not loaded for display.
    package init(segmentOf duration: Duration, _ type: ObjectType?, isLive: Bool) {
        self.init()
        (isNotRendered, self.duration, objectType) = (true, duration, type)
        streamType = isLive ? .live : .onDemand
    }
}

extension AssetVariant {
    package var objectType: ClientDataFacts.ObjectType {
        guard hasVideo else { return .audio }
        return ClientDataFacts.ObjectType(codecs: codecs) == .video ? .video : .muxed
    }
}

extension ClientDataFacts.ObjectType {
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
