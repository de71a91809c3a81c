import HLSKitCore

struct DateRangeTable {
    private let playlist: MediaPlaylist
    /// The dates of segments and their times since the start of the playlist.
    private let places: [(date: PlaylistDate, time: Duration)]

    init(_ playlist: MediaPlaylist) {
        self.playlist = playlist
        var (places, time) = ([(date: PlaylistDate, time: Duration)](), Duration.zero)
        for segment in playlist.dateRanges.isEmpty ? [] : Array(playlist.segments) {
            if let date = segment.derivedProgramDateTime { places.append((date, time)) }
            time += segment.duration
        }
        self.places = places
    }

    var lines: [String] {
        PlaylistTable.table(
            "DATE RANGES", ["id", "class", "start", "at", "duration", "splice", "attributes"],
            playlist.dateRanges.map(row))
            + PlaylistTable.table(
                "INTERSTITIALS", ["id", "plays", "length", "resumes", "at most", "notes", "asset"],
                playlist.dateRanges.compactMap(interstitialRow))
    }

    private func row(_ range: DateRange) -> [String] {
        let splices = [
            range.scte35Out.map { _ in "out" }, range.scte35In.map { _ in "in" },
            range.scte35Command.map { _ in "command" },
        ].compactMap { $0 }
        let own = range.interstitial == nil ? range.clientAttributes.map { "\($0.name)=\($0.value)" } : []
        return [
            range.id, range.class ?? "", range.startDate?.description ?? "",
            place(of: range).map(PlaylistTable.seconds) ?? "", length(of: range),
            splices.joined(separator: ", "), Redaction.text(own.joined(separator: " ")),
        ]
    }

    private func length(of range: DateRange) -> String {
        if let start = range.startDate, let end = playlist.endDate(of: range) {
            return PlaylistTable.seconds(end - start)
        }
        if let planned = range.plannedDuration { return PlaylistTable.seconds(planned) + " planned" }
        return range.endsOnNext ? "until the next" : ""
    }

    /// The start of a range relative to the playlist, or `nil` if its dates do not determine it.
    private func place(of range: DateRange) -> Duration? {
        guard let date = range.startDate else { return nil }
        let place = places.last { $0.date <= date } ?? places.first
        return place.map { $0.time + (date - $0.date) }
    }

    private func interstitialRow(_ range: DateRange) -> [String]? {
        guard let interstitial = range.interstitial else { return nil }
        let seconds = PlaylistTable.seconds
        let place =
            range.cue.contains(.pre)
            ? "before the start"
            : range.cue.contains(.post) ? "after the end" : place(of: range).map { "at " + seconds($0) } ?? "nowhere"
        let notes = [
            range.cue.contains(.once) ? "once" : nil,
            interstitial.snapsOut ? "snaps out" : nil, interstitial.snapsIn ? "snaps in" : nil,
            interstitial.restrictsSkip ? "no skip" : nil, interstitial.restrictsJump ? "no jump" : nil,
            interstitial.timelineOccupies == .range ? "range" : nil,
            interstitial.timelineStyle == .primary ? "primary" : nil,
            interstitial.contentMayVary ? nil : "same for all",
            interstitial.skipControlOffset.map { "may be skipped from \(seconds($0))" },
        ]
        let asset = interstitial.assetURI ?? interstitial.assetList.map { "list \($0)" } ?? "none"
        return [
            range.id, place, length(of: range), Self.resumption(interstitial.resumeOffset),
            interstitial.playoutLimit.map(seconds) ?? "", notes.compactMap { $0 }.joined(separator: ", "), asset,
        ]
    }

    private static func resumption(_ offset: Duration?) -> String {
        guard let offset else { return "after the played duration" }
        if offset == .zero { return "where it stopped" }
        return PlaylistTable.seconds(offset < .zero ? .zero - offset : offset)
            + (offset < .zero ? " earlier" : " later")
    }

    static func text(of marker: SpliceMarker) -> String {
        let name = marker.tag.replacing("EXT-X-", with: "")
        switch (marker.elapsed, marker.duration) {
        case (let elapsed?, let duration?):
            return "\(name) (\(PlaylistTable.seconds(elapsed)) of \(PlaylistTable.seconds(duration)))"
        case (nil, let duration?): return "\(name) (\(PlaylistTable.seconds(duration)))"
        case (let elapsed?, nil): return "\(name) (\(PlaylistTable.seconds(elapsed)))"
        case (nil, nil): return name
        }
    }
}
