import HLSKitTime

/// Checks a presentation for faults that only a comparison of its playlists shows.
///
/// Load the ``references`` in any way and call ``add(_:for:)`` with the facts of each playlist, which take a few
/// hundred bytes. Then call ``findings()``. This type makes no requests. Source: rfc8216bis §6.2.4.
public struct PresentationLint: Sendable {
    /// A media playlist that the multivariant playlist names.
    ///
    /// Each URL occurs once, even if it is named several times.
    public struct Reference: Sendable, Hashable {
        /// The URI as written where it is named first.
        public var uri: String
        /// The absolute URL, or `nil` if the URI cannot be resolved.
        public var url: String?
        /// The line in which the URI is named first.
        public var line: Int?
        var roles: Set<Role>
    }

    enum Role: Hashable { case variant, iFrames, rendition(Rendition.MediaType) }

    /// The media playlists, in the order of the text.
    public let references: [Reference]
    private let playlist: MultivariantPlaylist
    private let lines: ItemLines
    private var facts: [Reference: MediaPlaylistFacts] = [:]

    /// Starts a check of the media playlists that `playlist` lists.
    ///
    /// This makes no requests: add each playlist when it arrives.
    public init(_ playlist: MultivariantPlaylist) {
        self.playlist = playlist
        lines = ItemLines(playlist)
        references = Self.references(of: playlist, lines)
    }

    private static func references(of playlist: MultivariantPlaylist, _ lines: ItemLines) -> [Reference] {
        var references: [Reference] = []
        var indices: [String: Int] = [:]
        func note(_ uri: String, _ role: Role, _ line: Int?) {
            let url = playlist.resolve(uri)
            if let index = indices[url ?? uri] {
                references[index].roles.insert(role)
            } else {
                indices[url ?? uri] = references.count
                references.append(Reference(uri: uri, url: url, line: line, roles: [role]))
            }
        }
        for (index, variant) in playlist.variants.enumerated() {
            note(variant.uri, .variant, lines[.streamInf, index])
        }
        for (index, rendition) in playlist.renditions.enumerated() {
            guard let uri = rendition.uri, rendition.type != .closedCaptions else { continue }
            note(uri, .rendition(rendition.type), lines[.media, index])
        }
        for (index, variant) in playlist.iFrameVariants.enumerated() {
            note(variant.uri, .iFrames, lines[.iFrameStreamInf, index])
        }
        return references
    }

    /// Adds the facts of a loaded playlist.
    public mutating func add(_ facts: MediaPlaylistFacts, for reference: Reference) {
        self.facts[reference] = facts
    }

    /// Returns the findings across the added playlists, in the order of the references.
    public func findings() -> [LintFinding] {
        var findings: [LintFinding] = []
        let known = references.compactMap { reference in facts[reference].map { (reference, $0) } }
        for (reference, facts) in known { checkIFrames(reference, facts, &findings) }
        checkTypes(known, &findings)
        checkTargetDurations(known, &findings)
        checkDates(known, &findings)
        // I-frames and subtitles have their own segmentation, so only the checks above apply to them.
        let media = known.filter { reference, facts in
            !facts.isIFramesOnly && reference.roles.contains { $0 != .iFrames && $0 != .rendition(.subtitles) }
        }
        if let first = media.first {
            for other in media.dropFirst() { compare(first, other, &findings) }
        }
        checkBandwidths(&findings)
        return findings
    }

    private typealias Known = (reference: Reference, facts: MediaPlaylistFacts)

    private func finding(
        _ rule: PlaylistRule, _ severity: PlaylistIssue.Severity = .error, at reference: Reference? = nil,
        line: Int? = nil, tag: Tag? = nil, _ text: String, _ remedy: String
    ) -> LintFinding {
        LintFinding(
            PlaylistIssue(rule: rule, severity: severity, line: line, tag: tag?.rawValue, text: text), remedy: remedy,
            url: reference.map { $0.url ?? $0.uri })
    }

    // MARK: One against all

    private func checkIFrames(_ reference: Reference, _ facts: MediaPlaylistFacts, _ findings: inout [LintFinding]) {
        if reference.roles.contains(.iFrames), !facts.isIFramesOnly {
            findings.append(
                finding(
                    .iFramesOnly, at: reference, "listed by EXT-X-I-FRAME-STREAM-INF, but has no EXT-X-I-FRAMES-ONLY",
                    "write #EXT-X-I-FRAMES-ONLY"))
        } else if facts.isIFramesOnly, reference.roles != [.iFrames] {
            findings.append(
                finding(
                    .iFramesOnly, at: reference, "I-frames only, but listed as a variant or rendition",
                    "list it with EXT-X-I-FRAME-STREAM-INF"))
        }
    }

    private func checkTypes(_ known: [Known], _ findings: inout [LintFinding]) {
        guard let first = known.first else { return }
        for other in known.dropFirst() {
            if other.facts.playlistType != first.facts.playlistType {
                let names = [first, other].map { $0.facts.playlistType?.rawValue ?? "none" }
                findings.append(
                    finding(
                        .alignedType, at: other.reference, tag: .playlistType,
                        "EXT-X-PLAYLIST-TYPE is \(names[1]), but \(names[0]) in \(first.reference.uri)",
                        "give all media playlists the same type"))
            } else if other.facts.hasEndList != first.facts.hasEndList {
                let state = other.facts.hasEndList ? "complete" : "not complete"
                findings.append(
                    finding(
                        .alignedType, .warning, at: other.reference, tag: .endList,
                        "\(state), unlike \(first.reference.uri)", "end all media playlists together"))
            }
        }
    }

    private func checkTargetDurations(_ known: [Known], _ findings: inout [LintFinding]) {
        // Subtitles and I-frames of VOD may have other target durations.
        let bound = known.filter { reference, facts in
            facts.playlistType != .vod || !(facts.isIFramesOnly || reference.roles == [.rendition(.subtitles)])
        }
        guard let first = bound.first else { return }
        for other in bound.dropFirst() where other.facts.targetDuration != first.facts.targetDuration {
            findings.append(
                finding(
                    .alignedTargetDuration, at: other.reference, line: other.facts.targetDurationLine,
                    tag: .targetDuration,
                    "\(other.facts.targetDuration.decimalText()) s, but \(first.facts.targetDuration.decimalText()) s in "
                        + first.reference.uri, "give all media playlists the same EXT-X-TARGETDURATION"))
        }
    }

    private func checkDates(_ known: [Known], _ findings: inout [LintFinding]) {
        guard let dated = known.first(where: { $0.facts.firstDate != nil }) else { return }
        for other in known where other.facts.firstDate == nil && other.facts.segmentCount > 0 {
            findings.append(
                finding(
                    .alignedDates, at: other.reference, tag: .programDateTime,
                    "no EXT-X-PROGRAM-DATE-TIME, but \(dated.reference.uri) has it",
                    "date all media playlists, or none"))
        }
    }

    // MARK: One against another

    /// The largest difference between dates of the same media time: less than a frame at 10 frames per second.
    private static let dateTolerance = Duration.milliseconds(100)
    /// Live playlists are loaded one after another. Some may advance by this number of segments in the meantime.
    private static let liveTolerance = 2

    private func compare(_ first: Known, _ other: Known, _ findings: inout [LintFinding]) {
        let (a, b) = (first.facts, other.facts)
        let name = first.reference.uri
        if a.hasEndList, b.hasEndList {
            compareComplete(first, other, &findings)
            return
        }
        guard !a.hasEndList, !b.hasEndList, a.segmentCount > 0, b.segmentCount > 0 else { return }
        let ends = (a.mediaSequence + a.segmentCount, b.mediaSequence + b.segmentCount)
        if abs(ends.0 - ends.1) > Self.liveTolerance {
            findings.append(
                finding(
                    .alignedMediaSequence, .warning, at: other.reference, tag: .mediaSequence,
                    "the last segment is number \(ends.1 - 1), but \(ends.0 - 1) in \(name)",
                    "cut all media playlists at the same times, and number their segments alike"))
            return
        }
        // Segments with the same sequence number should have the same content.
        let overlap =
            max(
                a.mediaSequence, b.mediaSequence)..<max(
                max(a.mediaSequence, b.mediaSequence), min(ends.0, ends.1))
        if let number = overlap.first, a.hasDiscontinuities || b.hasDiscontinuities {
            for number in [number, overlap.upperBound - 1] {
                let sequences = (a.discontinuitySequence(at: number), b.discontinuitySequence(at: number))
                guard sequences.0 != sequences.1 else { continue }
                findings.append(
                    finding(
                        .alignedDiscontinuities, at: other.reference, tag: .discontinuitySequence,
                        "segment \(number) has discontinuity sequence number \(sequences.1), but \(sequences.0) in \(name)",
                        "put EXT-X-DISCONTINUITY at the same times everywhere, and count removed ones"))
                break
            }
        }
    }

    private func compareComplete(_ first: Known, _ other: Known, _ findings: inout [LintFinding]) {
        let (a, b) = (first.facts, other.facts)
        let name = first.reference.uri
        let tolerance = max(a.targetDuration, b.targetDuration)
        let isAsLong = abs(a.duration - b.duration) <= tolerance
        if !isAsLong {
            findings.append(
                finding(
                    .alignedDuration, at: other.reference,
                    "\(b.duration.decimalText()) s long, but \(a.duration.decimalText()) s in \(name)",
                    "offer the same content in all media playlists, to within a target duration"))
        }
        if let start = a.firstDate, let otherStart = b.firstDate, abs(start - otherStart) > Self.dateTolerance {
            findings.append(
                finding(
                    .alignedDates, at: other.reference, tag: .programDateTime,
                    "starts at \(otherStart), but at \(start) in \(name)", "give the same media time the same date"))
        }
        if a.discontinuityCount != b.discontinuityCount {
            findings.append(
                finding(
                    .alignedDiscontinuities, at: other.reference, tag: .discontinuity,
                    "\(b.discontinuityCount) discontinuities, but \(a.discontinuityCount) in \(name)",
                    "put EXT-X-DISCONTINUITY at the same times everywhere"))
        } else if let pair = zip(a.discontinuities, b.discontinuities).first(where: {
            $0.sequence != $1.sequence || abs($0.offset - $1.offset) > tolerance / 2
        }) {
            findings.append(
                finding(
                    .alignedDiscontinuities, at: other.reference, tag: .discontinuity,
                    "discontinuity \(pair.1.sequence) is at \(pair.1.offset.decimalText()) s, but \(pair.0.sequence) at "
                        + "\(pair.0.offset.decimalText()) s in \(name)",
                    "put EXT-X-DISCONTINUITY at the same times everywhere"))
        } else if isAsLong, a.mediaSequence != b.mediaSequence || abs(a.segmentCount - b.segmentCount) > 1 {
            // Audio often has one more segment at the end.
            findings.append(
                finding(
                    .alignedMediaSequence, .warning, at: other.reference, tag: .mediaSequence,
                    "\(b.segmentCount) segments from number \(b.mediaSequence), but \(a.segmentCount) from "
                        + "\(a.mediaSequence) in \(name)",
                    "cut all media playlists at the same times, and number their segments alike"))
        }
    }

    // MARK: Bit rates

    private func checkBandwidths(_ findings: inout [LintFinding]) {
        var byURI: [String: MediaPlaylistFacts] = [:]
        for reference in references {
            if let facts = facts[reference] { byURI[reference.url ?? reference.uri] = facts }
        }
        func known(_ uri: String) -> MediaPlaylistFacts? { byURI[playlist.resolve(uri) ?? uri] }

        for (index, variant) in playlist.variants.enumerated() {
            guard let own = known(variant.uri), let ownRates = own.bitRates else { continue }
            var (peak, average) = (ownRates.peak, ownRates.average)
            // The largest bit rate that any choice of renditions adds.
            let groups = [
                (Rendition.MediaType.audio, variant.audio), (.video, variant.video), (.subtitles, variant.subtitles),
            ]
            for (type, id) in groups {
                guard let id else { continue }
                let rates = playlist.renditions(type, groupID: id).compactMap { rendition -> SegmentBitRates? in
                    guard let uri = rendition.uri, playlist.resolve(uri) != playlist.resolve(variant.uri) else {
                        return nil
                    }
                    return known(uri)?.bitRates
                }
                peak += rates.map(\.peak).max() ?? 0
                average += rates.map(\.average).max() ?? 0
            }
            let line = lines[.streamInf, index]
            checkBandwidth(variant, peak, isComplete: own.hasEndList, line, &findings)
            checkAverage(variant, average, isComplete: own.hasEndList, line, &findings)
            if own.hasEndList, peak > 2 * average {
                findings.append(
                    finding(
                        .applePeak, .warning, line: line, tag: .streamInf,
                        "\(variant.uri): the measured peak of \(Self.text(peak)) is more than twice the average of "
                            + Self.text(average), "limit the bit rate when encoding"))
            }
        }
    }

    /// Compares the measured peak of a variant with its `BANDWIDTH`.
    ///
    /// The peak of a complete playlist may differ by 10 %, and the peak of any other may be at most 25 % above (Apple's
    /// HLS authoring specification, 1.27 and 1.29).
    private func checkBandwidth(
        _ variant: VariantStream, _ peak: Double, isComplete: Bool, _ line: Int?, _ findings: inout [LintFinding]
    ) {
        let declared = Double(variant.bandwidth)
        guard declared > 0 else { return }
        let isFarAbove = peak > declared * (isComplete ? 1.1 : 1.25)
        guard isFarAbove || peak > declared * 1.001 || (isComplete && peak < declared * 0.9) else { return }
        findings.append(
            finding(
                .bandwidth, isFarAbove ? .error : .warning, line: line, tag: .streamInf,
                "\(variant.uri): the measured peak is \(Self.text(peak)), \(Self.percent(peak, declared)) of BANDWIDTH",
                "write BANDWIDTH=\(Self.integer(peak))"))
    }

    /// A complete playlist may differ by 10 %, and any other may be at most 10 % above (1.26 and 1.28).
    private func checkAverage(
        _ variant: VariantStream, _ average: Double, isComplete: Bool, _ line: Int?, _ findings: inout [LintFinding]
    ) {
        guard let declared = variant.averageBandwidth.map(Double.init), declared > 0 else { return }
        let isFarAbove = average > declared * 1.1
        guard isFarAbove || (isComplete && average < declared * 0.9) else { return }
        findings.append(
            finding(
                .averageBandwidth, isFarAbove ? .error : .warning, line: line, tag: .streamInf,
                "\(variant.uri): the measured average is \(Self.text(average)), \(Self.percent(average, declared)) of "
                    + "AVERAGE-BANDWIDTH", "write AVERAGE-BANDWIDTH=\(Self.integer(average))"))
    }

    private static func integer(_ rate: Double) -> Int { Int(min(rate, 1e15).rounded(.up)) }
    private static func text(_ rate: Double) -> String { "\(integer(rate)) bit/s" }
    private static func percent(_ rate: Double, _ declared: Double) -> String {
        "\(Int(min(rate / declared * 100, 1e6).rounded())) %"
    }
}
