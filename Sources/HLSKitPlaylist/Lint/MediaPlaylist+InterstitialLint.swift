extension MediaPlaylist {
    func checkInterstitials(_ collector: inout LintCollector) {
        guard dateRanges.contains(where: { $0.hasInterstitialAttributes }) else { return }
        let lines = dateRangeLineNumbers
        let dates = fixedDates
        for range in dateRanges where range.hasInterstitialAttributes {
            for fault in range.interstitialFaults(in: dates) {
                collector.add(
                    .interstitial, fault.severity, .dateRange, line: lines[range.id],
                    "the interstitial \(range.id) \(fault.text)", fault.remedy)
            }
        }
    }

    /// The dates from the start of the first segment to the end of the last, or nil if they may still change.
    private var fixedDates: ClosedRange<PlaylistDate>? {
        guard hasEndList, let first = segments.first?.derivedProgramDateTime, let last = segments.last,
            let date = last.derivedProgramDateTime, first <= date + last.duration
        else { return nil }
        return first...(date + last.duration)
    }

    /// The line of the first tag of each date range, if the playlist has not been edited.
    private var dateRangeLineNumbers: [String: Int] {
        guard let source = source.value, source.original == self else { return [:] }
        var starts = source.dateRangeLines.map { ($0.start, $0.range.id) }[...]
        var (lines, number): ([String: Int], Int) = ([:], 0)
        source.store.text.forEachLine(in: 0..<source.store.text.count) { line in
            number += 1
            while let (start, id) = starts.first, start <= line.range.lowerBound {
                if lines[id] == nil { lines[id] = number }
                starts.removeFirst()
            }
        }
        return lines
    }
}

private struct InterstitialFault {
    var severity: PlaylistIssue.Severity = .error
    var text: String
    var remedy: String
}

extension DateRange {
    fileprivate var hasInterstitialAttributes: Bool {
        self.class == Self.interstitialClass || self[attribute: "X-ASSET-URI"] != nil
            || self[attribute: "X-ASSET-LIST"] != nil
    }

    fileprivate func interstitialFaults(in dates: ClosedRange<PlaylistDate>?) -> [InterstitialFault] {
        guard let interstitial else {
            return [
                InterstitialFault(
                    severity: .warning, text: "has another class", remedy: "write CLASS=\"\(Self.interstitialClass)\"")
            ]
        }
        var faults: [InterstitialFault] = []
        switch (interstitial.assetURI, interstitial.assetList) {
        case (nil, nil):
            faults.append(
                InterstitialFault(
                    text: "has nothing to play", remedy: "write X-ASSET-URI or X-ASSET-LIST"))
        case (.some, .some):
            faults.append(
                InterstitialFault(text: "has both X-ASSET-URI and X-ASSET-LIST", remedy: "remove one of the two"))
        case (let uri?, nil):
            if URIReference(uri)?.scheme == nil {
                faults.append(
                    InterstitialFault(
                        severity: .warning, text: "has an X-ASSET-URI that is not absolute",
                        remedy: "write the whole URL"))
            }
        case (nil, .some): break
        }
        faults += numberFaults + wordFaults
        if interstitial.playoutLimit == .zero {
            faults.append(
                InterstitialFault(
                    severity: .warning, text: "has an X-PLAYOUT-LIMIT of 0, with which nothing plays",
                    remedy: "raise it, or remove the date range"))
        }
        let isAtEnd = cue.contains(.pre) || cue.contains(.post)
        if let dates, let startDate, !isAtEnd, !dates.contains(startDate) {
            faults.append(
                InterstitialFault(
                    severity: .warning, text: "starts outside of the playlist's dates, and never plays",
                    remedy: "move START-DATE, or add CUE"))
        }
        return faults
    }

    private var numberFaults: [InterstitialFault] {
        let names = ["X-RESUME-OFFSET", "X-PLAYOUT-LIMIT", "X-SKIP-CONTROL-OFFSET", "X-SKIP-CONTROL-DURATION"]
        return otherAttributes.filter { names.contains($0.name) }.compactMap { attribute in
            let isSigned = attribute.name == "X-RESUME-OFFSET"
            if duration(ofAttribute: attribute.name, signed: isSigned) == nil {
                let kind = isSigned ? "a number" : "a number from 0 on"
                return InterstitialFault(
                    text: "has an \(attribute.name) that is not \(kind)", remedy: "write seconds as a decimal number")
            }
            guard attribute.isQuoted else { return nil }
            return InterstitialFault(
                severity: .warning, text: "has an \(attribute.name) in quotes", remedy: "write it without quotes")
        }
    }

    private var wordFaults: [InterstitialFault] {
        let known: [(name: String, words: [String], isList: Bool)] = [
            ("X-SNAP", ["OUT", "IN"], true), ("X-RESTRICT", ["SKIP", "JUMP"], true),
            ("X-CONTENT-MAY-VARY", ["YES", "NO"], false),
            ("X-TIMELINE-OCCUPIES", Interstitial.TimelineOccupies.allCases.map(\.rawValue), false),
            ("X-TIMELINE-STYLE", Interstitial.TimelineStyle.allCases.map(\.rawValue), false),
        ]
        var faults = known.compactMap { name, words, isList -> InterstitialFault? in
            guard let value = self[attribute: name] else { return nil }
            let written = isList ? Self.list(value) : [value]
            guard written.isEmpty || written.contains(where: { !words.contains($0) }) else { return nil }
            return InterstitialFault(
                severity: .warning, text: "has an unknown \(name)",
                remedy: "write \(words.joined(separator: isList ? " and " : " or "))")
        }
        let cues: [Cue] = [.pre, .post, .once]
        if cue.contains(where: { !cues.contains($0) }) {
            faults.append(
                InterstitialFault(
                    severity: .warning, text: "has an unknown CUE", remedy: "write PRE, POST or ONCE"))
        }
        return faults
    }
}
