import HLSGetKit
import HLSKitCore

enum PlaylistTable {
    /// Values between the first and last 50 are summarized.
    static let maximumRowCount = 100

    /// - Parameters:
    ///   - steering: The steering report, or `nil` if there is no steering or no server was queried.
    ///   - encryption: The encryption of a multivariant playlist's media, or `nil` if it is unknown.
    ///   - tracks: The tracks of a media playlist, or `nil` if no segment was loaded.
    static func text(
        _ playlist: Playlist, _ steering: SteeringReport? = nil, _ encryption: StreamEncryption? = nil,
        tracks: SegmentTracks? = nil, limit: Int = maximumRowCount, errorsOnly: Bool = false
    ) -> String {
        var lines: [String]
        switch playlist {
        case .media(let playlist): lines = self.lines(playlist, limit)
        case .multivariant(let playlist): lines = self.lines(playlist, encryption)
        }
        if let steering { lines += steering.lines }
        if let tracks { lines += tracks.lines }
        let issues = playlist.issues.filter { !errorsOnly || $0.severity == .error }
        if !issues.isEmpty {
            lines += ["", "FINDINGS"]
            lines += issues.prefix(limit).map { "  \($0.severity.rawValue): \($0)" }
            if issues.count > limit { lines.append("  ... \(issues.count - limit) more") }
        }
        return lines.map { TerminalText.escaped($0) + "\n" }.joined()
    }

    // MARK: Multivariant

    private static func lines(_ playlist: MultivariantPlaylist, _ encryption: StreamEncryption?) -> [String] {
        var facts = ["version \(playlist.version ?? 1)"]
        if playlist.hasIndependentSegments { facts.append("independent segments") }
        if let start = playlist.start { facts.append("starts at \(seconds(start.timeOffset))") }
        if let encryption { facts.append(encryption.text) }
        if let steering = playlist.contentSteering { facts.append("steered by \(steering.serverURI)") }
        var lines = ["multivariant playlist: \(facts.joined(separator: ", "))"]
        lines += table(
            "VARIANTS",
            ["peak", "average", "size", "fps", "range", "codecs", "audio", "subtitles", "not played", "uri"],
            zip(playlist.variants, AssetVariant.listed(in: playlist)).map { row($0, $1.ineligibilityReasons) })
        lines += table(
            "I-FRAME VARIANTS", ["peak", "average", "size", "fps", "range", "codecs", "", "", "", "uri"],
            playlist.iFrameVariants.map { row($0, []) })
        lines += table(
            "RENDITIONS", ["type", "group", "name", "language", "flags", "channels", "uri"],
            playlist.renditions.map { rendition in
                let flags = [
                    rendition.isDefault ? "default" : nil, rendition.isAutoselect ? "auto" : nil,
                    rendition.isForced ? "forced" : nil,
                ]
                return [
                    rendition.type.rawValue.lowercased(), rendition.groupID, rendition.name, rendition.language ?? "",
                    flags.compactMap { $0 }.joined(separator: " "), rendition.channels ?? rendition.instreamID ?? "",
                    rendition.uri ?? "in the variant",
                ]
            })
        lines += table(
            "SESSION DATA", ["id", "language", "value"],
            playlist.sessionData.map { [$0.dataID, $0.language ?? "", $0.value ?? $0.uri ?? ""] })
        lines += table("SESSION KEYS", ["method", "format", "uri"], playlist.sessionKeys.map(row))
        return lines
    }

    private static func row(_ variant: VariantStream, _ reasons: [IneligibilityReason]) -> [String] {
        [
            Decimals.bitRate(Double(variant.bandwidth)),
            variant.averageBandwidth.map { Decimals.bitRate(Double($0)) } ?? "",
            variant.resolution?.description ?? "",
            variant.frameRate.map { Decimals.text($0, places: 2) } ?? "", variant.videoRange?.rawValue ?? "",
            variant.codecsText ?? "", variant.audio ?? "", variant.subtitles ?? "",
            reasons.map { "\($0)" }.joined(separator: ", "), variant.uri,
        ]
    }

    private static func row(_ key: EncryptionKey) -> [String] {
        [key.method.rawValue, key.effectiveKeyFormat, key.uri ?? ""]
    }

    // MARK: Media

    private static func lines(_ playlist: MediaPlaylist, _ limit: Int) -> [String] {
        let segments = playlist.segments
        var facts = ["version \(playlist.version ?? 1)"]
        facts.append(playlist.isComplete ? "complete" : "live")
        if let type = playlist.playlistType { facts.append(type.rawValue) }
        if playlist.isIFramesOnly { facts.append("I-frames only") }
        if playlist.hasIndependentSegments { facts.append("independent segments") }
        if let skip = playlist.skip { facts.append("delta update, \(Decimals.count(skip.count, "segment")) skipped") }
        var lines = ["media playlist: \(facts.joined(separator: ", "))"]

        let longest = segments.lazy.map(\.duration).max() ?? .zero
        let shortest = segments.lazy.map(\.duration).min() ?? .zero
        lines.append(
            "\(Decimals.count(segments.count, "segment")), \(seconds(playlist.duration)) in total, from "
                + "\(seconds(shortest)) to \(seconds(longest)) each; target duration \(seconds(playlist.targetDuration))"
        )
        if let first = segments.first, let last = segments.last {
            lines.append("media sequence \(first.mediaSequence) to \(last.mediaSequence)")
            if let start = first.derivedProgramDateTime, let end = last.derivedProgramDateTime {
                lines.append("from \(start) to \(end + last.duration)")
            }
        }
        let gaps = segments.lazy.filter(\.isGap).count
        let breaks = segments.lazy.filter(\.hasDiscontinuity).count
        if gaps > 0 || breaks > 0 {
            let noun = breaks == 1 ? "discontinuity" : "discontinuities"
            lines.append("\(Decimals.count(gaps, "gap")), \(breaks) \(noun)")
        }
        if let control = playlist.serverControl {
            let parts = [
                control.canBlockReload ? "blocking reload" : nil,
                control.canSkipUntil.map { "skips until \(seconds($0))" },
                control.holdBack.map { "hold back \(seconds($0))" },
                control.partHoldBack.map { "part hold back \(seconds($0))" },
            ]
            lines.append("server: \(parts.compactMap { $0 }.joined(separator: ", "))")
        }
        if let target = playlist.partTarget {
            let count = segments.reduce(playlist.trailingParts.count) { $0 + $1.parts.count }
            lines.append("\(Decimals.count(count, "part")) of at most \(seconds(target))")
        }
        lines += table(
            "KEYS", ["method", "format", "uri"],
            ends(of: unique(segments.keySets.joined()), limit, row) { ["... \($0.count) more", "", ""] })
        lines += table(
            "MAPS", ["uri", "bytes"],
            ends(of: unique(segments.lazy.compactMap(\.map)), limit, { [$0.uri, $0.byteRange.map(bytes) ?? ""] }) {
                ["... \($0.count) more", ""]
            })
        lines += table(
            "SEGMENTS", ["number", "duration", "bytes", "date", "", "uri"],
            ends(of: segments, limit, row) { between in
                let duration = between.reduce(Duration.zero) { $0 + $1.duration }
                return ["...", seconds(duration), "", "", "", "\(between.count) more segments; --all lists them"]
            })
        lines += DateRangeTable(playlist).lines
        return lines
    }

    private static func row(_ segment: MediaSegment) -> [String] {
        let marks = [
            segment.hasDiscontinuity ? "discontinuity" : nil, segment.isGap ? "gap" : nil,
            segment.keys.first.map { $0.method.rawValue },
        ]
        let markers = segment.spliceMarkers.map(DateRangeTable.text(of:))
        return [
            String(segment.mediaSequence), seconds(segment.duration), segment.byteRange.map(bytes) ?? "",
            segment.programDateTime?.description ?? "", (marks.compactMap { $0 } + markers).joined(separator: " "),
            segment.uri,
        ]
    }

    private static func ends<Values: RandomAccessCollection>(
        of values: Values, _ limit: Int, _ row: (Values.Element) -> [String],
        between: (Values.SubSequence) -> [String]
    ) -> [[String]] {
        guard values.count > limit else { return values.map(row) }
        let half = limit / 2
        return values.prefix(half).map(row) + [between(values.dropFirst(half).dropLast(half))]
            + values.suffix(half).map(row)
    }

    private static func unique<Value: Hashable>(_ values: some Sequence<Value>) -> [Value] {
        var seen: Set<Value> = []
        return values.filter { seen.insert($0).inserted }
    }

    private static func bytes(_ range: ByteRange) -> String { "\(range.length)@\(range.offset)" }

    static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        return Decimals.text(Double(seconds) + Double(attoseconds) / 1e18, places: 3) + " s"
    }

    /// A table with columns as wide as their widest cell. Omits columns that are empty in every row, and the table
    /// without rows.
    static func table(_ title: String, _ head: [String], _ rows: [[String]]) -> [String] {
        guard !rows.isEmpty else { return [] }
        let rows = rows.map { row in row.map { TerminalText.escaped($0) } }
        let columns = head.indices.filter { column in rows.contains { !$0[column].isEmpty } }
        let widths = columns.map { column in
            min(60, max(head[column].count, rows.map { $0[column].count }.max() ?? 0))
        }
        func line(_ cells: [String]) -> String {
            var text = "  "
            for (column, width) in zip(columns, widths) {
                text += column == columns.last ? cells[column] : cells[column].padded(to: width) + "  "
            }
            return text
        }
        return ["", title, line(head)] + rows.map(line)
    }
}
