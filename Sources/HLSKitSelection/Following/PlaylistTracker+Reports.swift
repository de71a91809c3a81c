import HLSKitPlaylist

/// Rendition reports, in which a playlist gives the state of other playlists (rfc8216bis §4.4.5.4).
extension PlaylistTracker {
    /// Returns the last part or segment that the playlist at a URL listed when this playlist was written.
    ///
    /// The position is in the server's numbering. The result is nil if there is no report, or if the server does not
    /// support blocking reloads.
    package func reported(of url: String) -> PartPosition? {
        guard isLive, playlist.serverControl?.canBlockReload == true, !playlist.renditionReports.isEmpty else {
            return nil
        }
        let plain = Self.withoutQuery(url)
        var found: RenditionReport?
        for report in playlist.renditionReports {
            guard let other = URIReference.resolve(report.uri, against: self.url) else { continue }
            if other == url {
                found = report
                break
            }
            // The report may omit a token.
            if found == nil, other == plain { found = report }
        }
        guard let found, let own = writtenEdge else { return nil }
        let sequence = found.lastMediaSequence ?? own.sequence
        guard (0..<Int.max).contains(sequence), found.lastPart.map({ $0 >= 0 }) ?? true else { return nil }
        return PartPosition(sequence: sequence, part: found.lastPart ?? own.part)
    }

    private static func withoutQuery(_ url: String) -> String { String(url.prefix { $0 != "?" && $0 != "#" }) }
}
