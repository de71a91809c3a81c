import HLSKitTime

extension MediaPlaylist {
    /// Returns the findings of the parser, then those about the playlist as a whole; see ``Playlist/lint()``.
    public func lint() -> [LintFinding] {
        var collector = LintCollector(
            issues: issues, text: source.value.flatMap { $0.original == self ? $0.store.text : nil })
        checkVersion(&collector)
        checkServerControl(&collector)
        checkParts(&collector)
        checkKind(&collector)
        if !dateRanges.isEmpty, !hasDates {
            collector.add(
                .date, .error, .dateRange, "date ranges without EXT-X-PROGRAM-DATE-TIME", "date at least one segment")
        }
        checkInterstitials(&collector)
        return collector.findings
    }

    var hasDates: Bool {
        upcoming.programDateTime != nil || segments.first?.derivedProgramDateTime != nil
            || segments.contains { $0.programDateTime != nil }
    }

    private func checkVersion(_ collector: inout LintCollector) {
        let needed = neededVersion
        if needed.version > version ?? 1 {
            collector.add(
                .version, .error, .version, "\(needed.feature) needs version \(needed.version), not \(version ?? 1)",
                "write #EXT-X-VERSION:\(needed.version)")
        }
    }

    private func checkServerControl(_ collector: inout LintCollector) {
        guard let control = serverControl else {
            if partTarget != nil {
                collector.add(
                    .holdBack, .error, .partInf, "parts without EXT-X-SERVER-CONTROL",
                    "add it with PART-HOLD-BACK=\((partTarget ?? .zero) * 3 / .seconds(1))")
            }
            return
        }
        let target = targetDuration.decimalText()
        if let holdBack = control.holdBack, holdBack < targetDuration * 3 {
            collector.add(
                .holdBack, .error, .serverControl, "HOLD-BACK is below three target durations of \(target) s",
                "raise it to \((targetDuration * 3).decimalText())")
        }
        if let until = control.canSkipUntil, until < targetDuration * 6 {
            collector.add(
                .holdBack, .error, .serverControl, "CAN-SKIP-UNTIL is below six target durations of \(target) s",
                "raise it to \((targetDuration * 6).decimalText())")
        }
        guard let partTarget else { return }
        let three = (partTarget * 3).decimalText()
        if let holdBack = control.partHoldBack {
            if holdBack < partTarget * 2 {
                collector.add(
                    .holdBack, .error, .serverControl, "PART-HOLD-BACK is below two part targets",
                    "raise it to \(three)")
            } else if holdBack < partTarget * 3 {
                collector.add(
                    .applePartHoldBack, .warning, .serverControl, "PART-HOLD-BACK is below three part targets",
                    "raise it to \(three)")
            }
        } else {
            collector.add(
                .holdBack, .error, .serverControl, "parts need PART-HOLD-BACK", "write PART-HOLD-BACK=\(three)")
        }
    }

    private func checkParts(_ collector: inout LintCollector) {
        guard let partTarget else { return }
        for segment in segments {
            guard let part = segment.parts.first(where: { $0.duration > partTarget }) else { continue }
            collector.add(
                .partTarget, .error, .part, line: segment.line,
                "a part of \(part.duration.decimalText()) s is longer than PART-TARGET", "raise PART-TARGET")
            return
        }
    }

    private func checkKind(_ collector: inout LintCollector) {
        if hasEndList {
            if playlistType == nil, !segments.isEmpty {
                collector.add(
                    .applePlaylistType, .warning, nil, "complete, but without EXT-X-PLAYLIST-TYPE",
                    "write #EXT-X-PLAYLIST-TYPE:VOD")
            }
        } else if skip == nil, playlistType != .vod {
            if playlistType == nil, segments.count < Self.leastLiveSegmentCount {
                collector.add(
                    .appleLiveWindow, .warning, nil, "live with only \(segments.count) segments",
                    "list at least \(Self.leastLiveSegmentCount)")
            }
            if !segments.isEmpty, !hasDates {
                collector.add(
                    .appleLiveDates, .warning, nil, "live without EXT-X-PROGRAM-DATE-TIME", "date the segments")
            }
            if !hasDiscontinuitySequence, playlistType == nil, segments.contains(where: \.hasDiscontinuity) {
                collector.add(
                    .appleDiscontinuitySequence, .warning, .discontinuity,
                    "live with discontinuities, but without EXT-X-DISCONTINUITY-SEQUENCE",
                    "count the discontinuities that have left the playlist")
            }
        }
    }

    /// Apple's HLS authoring specification, 8.11.
    private static let leastLiveSegmentCount = 6

    /// The lowest version that allows all used features, and the feature that requires it. Source: rfc8216bis §8.
    private var neededVersion: (version: Int, feature: String) {
        var result = (version: 1, feature: "")
        func need(_ version: Int, _ feature: String) {
            if version > result.version { result = (version, feature) }
        }
        for segment in segments {
            if segment.duration.components.attoseconds != 0 { need(3, "EXTINF with decimals") }
            if segment.byteRange != nil { need(4, "EXT-X-BYTERANGE") }
            for key in segment.keys {
                if key.iv != nil { need(2, "IV") }
                if key.keyFormat != nil || key.keyFormatVersions != nil { need(5, "KEYFORMAT") }
            }
            if segment.map != nil { need(isIFramesOnly ? 5 : 6, "EXT-X-MAP") }
        }
        if isIFramesOnly { need(4, "EXT-X-I-FRAMES-ONLY") }
        if !definitions.isEmpty { need(8, "EXT-X-DEFINE") }
        if definitions.contains(where: { $0.source == .queryParameter }) { need(11, "QUERYPARAM") }
        if let skip {
            need(9, "EXT-X-SKIP")
            if !skip.recentlyRemovedDateRanges.isEmpty { need(10, "RECENTLY-REMOVED-DATERANGES") }
        }
        return result
    }
}
