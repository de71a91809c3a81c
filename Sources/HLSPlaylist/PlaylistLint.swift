/// A finding of a check that goes beyond reading: what a playlist should be, and how to mend it.
public struct LintFinding: Sendable, Hashable {
    public var issue: PlaylistIssue
    /// What to do about it; nil where the text says it.
    public var remedy: String?

    public init(_ issue: PlaylistIssue, remedy: String? = nil) {
        self.issue = issue
        self.remedy = remedy
    }
}

extension Playlist {
    /// Everything that is wrong with the playlist: what reading found, then what only the whole shows.
    ///
    /// Does not touch the network. Source: rfc8216bis; rules that start with `apple-` are of Apple's HLS authoring
    /// specification.
    public func lint() -> [LintFinding] {
        var findings = issues.map { LintFinding($0) }
        switch self {
        case .media(let playlist): playlist.lint(&findings)
        case .multivariant(let playlist): playlist.lint(&findings)
        }
        return findings
    }
}

extension PlaylistRule {
    /// A feature needs a higher `EXT-X-VERSION` (rfc8216bis §8).
    public static let version = PlaylistRule(rawValue: "version")
    /// `HOLD-BACK` or its relatives are too small.
    public static let holdBack = PlaylistRule(rawValue: "hold-back")
    /// A part is longer than `PART-TARGET`.
    public static let partTarget = PlaylistRule(rawValue: "part-target")
    /// Apple: `CODECS` should be there.
    public static let appleCodecs = PlaylistRule(rawValue: "apple-9.1-codecs")
    /// Apple: `RESOLUTION` should be there for video.
    public static let appleResolution = PlaylistRule(rawValue: "apple-9.2-resolution")
    /// Apple: `FRAME-RATE` should be there for video.
    public static let appleFrameRate = PlaylistRule(rawValue: "apple-9.3-frame-rate")
    /// Apple: `AVERAGE-BANDWIDTH` should be there.
    public static let appleAverageBandwidth = PlaylistRule(rawValue: "apple-9.4-average-bandwidth")
}

extension MediaPlaylist {
    fileprivate func lint(_ findings: inout [LintFinding]) {
        func add(
            _ rule: PlaylistRule, _ severity: PlaylistIssue.Severity, line: Int? = nil, tag: Tag? = nil, _ text: String,
            _ remedy: String
        ) {
            let issue = PlaylistIssue(rule: rule, severity: severity, line: line, tag: tag?.rawValue, text: text)
            findings.append(LintFinding(issue, remedy: remedy))
        }

        let needed = neededVersion
        if needed.version > version ?? 1 {
            add(
                .version, .error, tag: .version,
                "\(needed.feature) needs version \(needed.version), not \(version ?? 1)",
                "write #EXT-X-VERSION:\(needed.version)")
        }
        if let control = serverControl {
            if let holdBack = control.holdBack, holdBack < targetDuration * 3 {
                add(.holdBack, .error, tag: .serverControl, "HOLD-BACK is below three target durations", "raise it")
            }
            if let until = control.canSkipUntil, until < targetDuration * 6 {
                add(.holdBack, .error, tag: .serverControl, "CAN-SKIP-UNTIL is below six target durations", "raise it")
            }
            if let partTarget, let holdBack = control.partHoldBack, holdBack < partTarget * 2 {
                add(.holdBack, .error, tag: .serverControl, "PART-HOLD-BACK is below two part targets", "raise it")
            }
            if partTarget != nil, control.partHoldBack == nil {
                add(.holdBack, .error, tag: .serverControl, "parts need PART-HOLD-BACK", "write three part targets")
            }
        }
        if let partTarget {
            for segment in segments {
                guard let part = segment.parts.first(where: { $0.duration > partTarget }) else { continue }
                add(
                    .partTarget, .error, line: segment.line, tag: .part,
                    "a part of \(part.duration.decimalText) s is longer than PART-TARGET", "raise PART-TARGET")
                break
            }
        }
        if playlistType == .vod, !hasEndList {
            add(.tagPosition, .warning, tag: .playlistType, "VOD without EXT-X-ENDLIST", "end it with #EXT-X-ENDLIST")
        }
        if !dateRanges.isEmpty, !segments.contains(where: { $0.programDateTime != nil }),
            upcoming.programDateTime == nil
        {
            add(
                .date, .error, tag: .dateRange, "date ranges without EXT-X-PROGRAM-DATE-TIME",
                "date at least one segment")
        }
    }

    /// The lowest version that allows what is used, and what that is. Source: rfc8216bis §8.
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

extension MultivariantPlaylist {
    fileprivate func lint(_ findings: inout [LintFinding]) {
        func add(
            _ rule: PlaylistRule, _ severity: PlaylistIssue.Severity, _ tag: Tag, _ text: String, _ remedy: String
        ) {
            let issue = PlaylistIssue(rule: rule, severity: severity, tag: tag.rawValue, text: text)
            findings.append(LintFinding(issue, remedy: remedy))
        }

        for (index, variant) in variants.enumerated() {
            let name = "variant \(index + 1) (\(variant.uri))"
            if variant.codecsText == nil {
                add(.appleCodecs, .warning, .streamInf, "\(name) has no CODECS", "list the formats of all its media")
            }
            if variant.averageBandwidth == nil {
                add(
                    .appleAverageBandwidth, .warning, .streamInf, "\(name) has no AVERAGE-BANDWIDTH",
                    "measure and add it")
            } else if let average = variant.averageBandwidth, average > variant.bandwidth {
                add(
                    .attributeConflict, .error, .streamInf, "\(name): AVERAGE-BANDWIDTH is above BANDWIDTH",
                    "BANDWIDTH is the peak of all segments")
            }
            let hasVideo = variant.codecs.contains { codec in
                ["avc1", "avc3", "hvc1", "hev1", "dvh1", "dvhe", "av01", "vp09"].contains { codec.hasPrefix($0) }
            }
            if hasVideo, variant.resolution == nil {
                add(.appleResolution, .warning, .streamInf, "\(name) has video and no RESOLUTION", "add it")
            }
            if hasVideo, variant.frameRate == nil {
                add(.appleFrameRate, .warning, .streamInf, "\(name) has video and no FRAME-RATE", "add it")
            }
        }
        struct Group: Hashable {
            var type: Rendition.MediaType
            var id: String
        }
        var names: [Group: Set<String>] = [:]
        var defaults: [Group: Int] = [:]
        for rendition in renditions {
            let group = Group(type: rendition.type, id: rendition.groupID)
            if !names[group, default: []].insert(rendition.name).inserted {
                add(
                    .attributeConflict, .error, .media,
                    "NAME \"\(rendition.name)\" occurs again in the group \"\(rendition.groupID)\"",
                    "give each rendition of a group a name of its own")
            }
            if rendition.isDefault {
                defaults[group, default: 0] += 1
                if defaults[group] == 2 {
                    add(
                        .attributeConflict, .error, .media, "the group \"\(rendition.groupID)\" has two defaults",
                        "leave one DEFAULT=YES")
                }
            }
        }
        if let version, definitions.isEmpty == false, version < 8 {
            add(.version, .error, .version, "EXT-X-DEFINE needs version 8, not \(version)", "write #EXT-X-VERSION:8")
        }
    }
}
