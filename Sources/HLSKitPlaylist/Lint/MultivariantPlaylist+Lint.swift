extension MultivariantPlaylist {
    /// Returns the findings of the parser, then those about the playlist as a whole; see ``Playlist/lint()``.
    ///
    /// This method does not check the media playlists. Use ``PresentationLint`` for them.
    public func lint() -> [LintFinding] {
        let text = source.value.flatMap { $0.original == self ? $0.text : nil }
        var collector = LintCollector(issues: issues, text: text)
        let lines = ItemLines(self)
        checkVersion(&collector)
        for (index, variant) in variants.enumerated() {
            variant.lint(line: lines[.streamInf, index], isIFrame: false, &collector)
        }
        for (index, variant) in iFrameVariants.enumerated() {
            variant.lint(line: lines[.iFrameStreamInf, index], isIFrame: true, &collector)
        }
        checkVariantsTogether(lines, &collector)
        checkRenditions(lines, &collector)
        checkGroups(lines, &collector)
        if let steering = contentSteering, steering.pathwayID == nil {
            collector.add(
                .appleSteeringPathway, .warning, .contentSteering, "has no PATHWAY-ID", "name the pathway to start with"
            )
        }
        return collector.findings
    }

    private func checkVersion(_ collector: inout LintCollector) {
        var needed = (version: 1, feature: "")
        func need(_ version: Int, _ feature: String) {
            if version > needed.version { needed = (version, feature) }
        }
        if renditions.contains(where: { $0.instreamID?.hasPrefix("SERVICE") == true }) { need(7, "SERVICE captions") }
        if !definitions.isEmpty { need(8, "EXT-X-DEFINE") }
        if definitions.contains(where: { $0.source == .queryParameter }) { need(11, "QUERYPARAM") }
        let all = variants + iFrameVariants
        if all.contains(where: { $0.requiredVideoLayout != nil || !$0.unknownRequirements.isEmpty }) {
            need(12, "REQ-VIDEO-LAYOUT")
        }
        if needed.version > version ?? 1 {
            collector.add(
                .version, .error, .version, "\(needed.feature) needs version \(needed.version), not \(version ?? 1)",
                "write #EXT-X-VERSION:\(needed.version)")
        }
    }

    private func checkVariantsTogether(_ lines: ItemLines, _ collector: inout LintCollector) {
        if let without = variants.firstIndex(where: { $0.score == nil }), variants.contains(where: { $0.score != nil })
        {
            collector.add(
                .appleScore, .warning, .streamInf, line: lines[.streamInf, without],
                "\(variants[without].uri) has no SCORE but others do: it is ignored on all",
                "score every variant, or none")
        }
        let isAllSDR = variants.allSatisfy { $0.effectiveVideoRange == .sdr }
        if !isAllSDR, let without = variants.firstIndex(where: { $0.videoRange == nil && $0.resolution != nil }) {
            collector.add(
                .appleVideoRange, .warning, .streamInf, line: lines[.streamInf, without],
                "\(variants[without].uri) has no VIDEO-RANGE, but others are not SDR",
                "write VIDEO-RANGE on every variant")
        }
    }

    private struct Group: Hashable {
        var type: Rendition.MediaType
        var id: String
    }

    private func checkRenditions(_ lines: ItemLines, _ collector: inout LintCollector) {
        var names: [Group: Set<String>] = [:]
        var defaults: [Group: Int] = [:]
        for (index, rendition) in renditions.enumerated() {
            let line = lines[.media, index]
            let group = Group(type: rendition.type, id: rendition.groupID)
            if !names[group, default: []].insert(rendition.name).inserted {
                collector.add(
                    .renditionGroup, .error, .media, line: line,
                    "NAME \"\(rendition.name)\" occurs again in the group \"\(rendition.groupID)\"",
                    "give each rendition of a group a different name")
            }
            if rendition.isDefault {
                defaults[group, default: 0] += 1
                if defaults[group] == 2 {
                    collector.add(
                        .renditionGroup, .error, .media, line: line,
                        "the group \"\(rendition.groupID)\" has two defaults", "keep only one DEFAULT=YES")
                }
            }
            if rendition.type != .video, rendition.language == nil {
                collector.add(
                    .appleLanguage, .warning, .media, line: line, "\"\(rendition.name)\" has no LANGUAGE",
                    "name its language (BCP 47), or und if it has none")
            }
        }
    }

    /// Checks that each group is used, and that groups of one type offer the same renditions.
    ///
    /// Such groups differ only in their encodings (rfc8216bis §4.4.6.1.1).
    private func checkGroups(_ lines: ItemLines, _ collector: inout LintCollector) {
        var used: Set<Group> = []
        for variant in variants + iFrameVariants {
            if let id = variant.audio { used.insert(Group(type: .audio, id: id)) }
            if let id = variant.video { used.insert(Group(type: .video, id: id)) }
            if let id = variant.subtitles { used.insert(Group(type: .subtitles, id: id)) }
            if case .group(let id) = variant.closedCaptions { used.insert(Group(type: .closedCaptions, id: id)) }
        }
        var members: [Group: Set<String>] = [:]
        var firstGroup: [Rendition.MediaType: Group] = [:]
        var order: [(group: Group, line: Int?)] = []
        for (index, rendition) in renditions.enumerated() {
            let group = Group(type: rendition.type, id: rendition.groupID)
            if members[group] == nil { order.append((group, lines[.media, index])) }
            members[group, default: []].insert(rendition.name)
        }
        for (group, line) in order {
            if !used.contains(group) {
                collector.add(
                    .unusedGroup, .warning, .media, line: line,
                    "no variant names the \(group.type.rawValue) group \"\(group.id)\"", "use it, or remove it")
            }
            guard let first = firstGroup[group.type] else {
                firstGroup[group.type] = group
                continue
            }
            if members[first] != members[group] {
                collector.add(
                    .renditionGroup, .error, .media, line: line,
                    "the \(group.type.rawValue) groups \"\(first.id)\" and \"\(group.id)\" have different members",
                    "offer renditions of the same names in each group of a type")
            }
        }
    }
}

extension VariantStream {
    private static let videoCodecs: Set<Substring> = [
        "avc1", "avc3", "hvc1", "hev1", "dvh1", "dvhe", "av01", "vp09", "vp08", "dvav", "dva1", "dav1", "mvc1", "mvc2",
        "mjpg",
    ]

    var hasVideoCodec: Bool {
        codecs.contains { Self.videoCodecs.contains($0.prefix { $0 != "." }) }
    }

    fileprivate func lint(line: Int?, isIFrame: Bool, _ collector: inout LintCollector) {
        let tag = isIFrame ? Tag.iFrameStreamInf : .streamInf
        func add(_ rule: PlaylistRule, _ severity: PlaylistIssue.Severity, _ text: String, _ remedy: String) {
            collector.add(rule, severity, tag, line: line, "\(uri) \(text)", remedy)
        }
        if codecsText == nil {
            add(
                isIFrame ? .appleIFrameCodecs : .appleCodecs, .warning, "has no CODECS",
                "list the formats of all its media")
        }
        if let average = averageBandwidth {
            if average > bandwidth {
                add(
                    .attributeConflict, .error, "has an AVERAGE-BANDWIDTH above its BANDWIDTH",
                    "BANDWIDTH is the peak of all segments")
            }
        } else if !isIFrame {
            add(.appleAverageBandwidth, .warning, "has no AVERAGE-BANDWIDTH", "measure and add it")
        }
        if resolution == nil, hasVideoCodec || isIFrame {
            add(isIFrame ? .appleIFrameResolution : .appleResolution, .warning, "has video but no RESOLUTION", "add it")
        }
        if hasVideoCodec, frameRate == nil, !isIFrame {
            add(.appleFrameRate, .warning, "has video but no FRAME-RATE", "add it")
        }
        guard let resolution, !codecs.isEmpty else { return }
        if !hasVideoCodec {
            add(.codecs, .warning, "has a RESOLUTION, but CODECS lists no video", "list the format of the video")
        }
        for codec in codecs {
            guard let level = VideoLevel(codec: codec), !level.allows(resolution) else { continue }
            add(
                .codecs, .warning, "is \(resolution), too large for level \(level.name) of \(codec)",
                "write the level of the media, or its size")
        }
    }
}

/// The lines of the items of a multivariant playlist. There are none after it has been edited.
struct ItemLines {
    private var lines: [Tag: [Int: Int]] = [:]

    init(_ playlist: MultivariantPlaylist) {
        guard let source = playlist.source.value, source.original == playlist else { return }
        var number = 0
        var items = source.items.sorted { $0.start < $1.start }[...]
        source.text.forEachLine(in: 0..<source.text.count) { line in
            number += 1
            while let item = items.first, line.range.contains(item.start) {
                lines[item.tag, default: [:]][item.index] = number
                items.removeFirst()
            }
        }
    }

    subscript(_ tag: Tag, _ index: Int) -> Int? { lines[tag]?[index] }
}
