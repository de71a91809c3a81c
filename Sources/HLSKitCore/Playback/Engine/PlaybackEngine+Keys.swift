import HLSPlaylist

extension PlaybackEngine {
    /// What is known of the hosts that the first segments come from: of the variants', else of the playlist's.
    func knownBandwidth(of playlist: MultivariantPlaylist) -> Double? {
        guard !configuration.bandwidths.entries.isEmpty, let base = item?.multivariantURL else { return nil }
        return configuration.bandwidths.bitsPerSecond(of: playlist, at: base, date: configuration.epoch + now)
    }
}

extension BandwidthEstimates {
    fileprivate func bitsPerSecond(of playlist: MultivariantPlaylist, at base: String, date: PlaylistDate) -> Double? {
        let urls = [playlist.variants.first.flatMap { URIReference.resolve($0.uri, against: base) }, base]
        for url in urls.compactMap(\.self) {
            guard let host = Origin(of: url)?.authority else { continue }
            if let known = bitsPerSecond(host: host, at: date) { return known }
        }
        return nil
    }
}
