package import HLSKitLoading
import HLSKitMedia
package import HLSKitPlaylist

/// What servers are told that media is, by what playlists declare of it.
extension ClientDataFacts {
    /// Of a segment that is not for showing.
    package init(segmentOf duration: Duration, _ type: ObjectType?, isLive: Bool) {
        self.init()
        (isNotRendered, self.duration, objectType) = (true, duration, type)
        streamType = isLive ? .live : .onDemand
    }
}

extension AssetVariant {
    /// Of its own segments.
    package var objectType: ClientDataFacts.ObjectType {
        guard hasVideo else { return .audio }
        return ClientDataFacts.ObjectType(codecs: codecs) == .video ? .video : .muxed
    }
}

extension ClientDataFacts.ObjectType {
    /// nil where nothing is declared, or nothing of sound and pictures.
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
    /// Of subtitles: in MP4, which needs an initialization section, or as text.
    package var objectTypeOfSubtitles: ClientDataFacts.ObjectType {
        segments.first?.map == nil ? .caption : .timedText
    }
}
