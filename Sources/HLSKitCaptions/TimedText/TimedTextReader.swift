import HLSKitTime

/// Reads TTML: `.itt`, and the features that other profiles share with it.
///
/// The body, divisions, paragraphs and spans can have times, in parallel or in sequence. A paragraph becomes a caption
/// for each time range in which its text does not change.
///
/// Source: TTML1 (W3C), of which iTunes Timed Text is a profile; ruby of TTML2 §10.2.35.
struct TimedTextReader {
    private static let maxRunCount = 4096
    private static let maxChangeCount = 256
    private static let maxTextByteCount = 64 << 20
    private static let maxDefinitionCount = 4096

    private struct Element {
        var name: String
        var style = TimedTextStyle()
        var visibility = TimedTextVisibility()
        var region: String?
        var start = MediaTime.zero
        /// nil: until the end.
        var end: MediaTime?
        var isSequence = false
        /// The start of a sequence's next child.
        var cursor = MediaTime.zero
        var preservesSpace = false
        /// The number of the surrounding ruby container, and of its base or text within it.
        var ruby = (container: 0, part: 0)
    }

    private struct Run {
        var text: String
        var element: Element
        var isBreak = false
    }

    private struct OpenRegion {
        var name: String
        var properties: TimedTextProperties
        var visibility = TimedTextVisibility()
        var start: MediaTime
        var depth: Int
    }

    private struct Item {
        var caption: Caption
        var end: MediaTime?
    }

    private var scanner: XMLScanner
    private var notes = NoteList()
    private var language: String?
    private var clock = TimedTextTime()
    private var rootExtent: (width: Double, height: Double)?
    private var cells = (columns: CaptionGrid.columnCount, rows: CaptionGrid.rowCount)
    private var styles: [String: TimedTextProperties] = [:]
    private var regions: [String: TimedTextProperties] = [:]
    private var regionValues: [String: CaptionRegion] = [:]
    private var regionVisibility: [String: TimedTextVisibility] = [:]
    private var openRegion: OpenRegion?
    private var stack: [Element] = []
    private var runs: [Run] = []
    private var paragraphLine = 0
    private var items: [Item] = []
    private var textByteCount = 0
    private var hasImages = false
    private var rubyCount = 0

    static func read(_ bytes: [UInt8]) throws(CaptionError) -> CaptionFileReader.Content {
        var reader = TimedTextReader(scanner: XMLScanner(TextDecoding.text(of: bytes).text))
        try reader.read()
        return CaptionFileReader.Content(
            captions: reader.captions(), language: reader.language, notes: reader.notes.notes)
    }

    private init(scanner: XMLScanner) { self.scanner = scanner }

    private mutating func read() throws(CaptionError) {
        while let event = try scanner.next() {
            switch event {
            case .start(let name, let attributes): try start(name, attributes)
            case .end(let name): try end(name)
            case .text(let text):
                // Text between the elements of a sequence takes no time.
                if isInParagraph, let element = stack.last, element.name == "p" || element.name == "span",
                    !element.isSequence
                {
                    add(Run(text: text, element: element))
                }
            }
        }
    }

    private var isInParagraph: Bool { stack.contains { $0.name == "p" } }

    private mutating func add(_ run: Run) {
        guard runs.count < Self.maxRunCount else {
            if runs.count == Self.maxRunCount { notes.add("a paragraph of too many pieces", line: paragraphLine) }
            return
        }
        runs.append(run)
    }

    // MARK: Elements

    private mutating func start(_ name: String, _ attributes: [XMLScanner.Attribute]) throws(CaptionError) {
        func value(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
        let parent = stack.last
        var element = parent ?? Element(name: "")
        element.name = name
        element.isSequence = value("timeContainer") == "seq"
        noteImages(name, attributes)
        if let space = value("xml:space") { element.preservesSpace = space == "preserve" }
        switch name {
        case "tt" where parent == nil: takeRoot(attributes)
        case _ where parent == nil:
            throw CaptionError(
                code: .notThisFormat, line: scanner.line, text: "the root is <\(name.prefix(64))>, not <tt>")
        case "style": takeStyle(attributes)
        case "region":
            if let identifier = value("xml:id") {
                beginRegion(identifier, attributes)
            }
        case "set": take(set: attributes)
        case "br" where isInParagraph: if let parent { add(Run(text: "", element: parent, isBreak: true)) }
        case "body", "div", "p", "span":
            if name == "p" {
                runs = []
                paragraphLine = scanner.line
            }
            var properties = TimedTextProperties()
            element.region = value("region") ?? element.region
            if name == "body" || parent?.region == nil, let region = element.region, let base = regions[region] {
                properties.merge(base)
                if let visibility = regionVisibility[region] { element.visibility.add(visibility) }
            }
            let own = TimedTextProperties(attributes, styles: styles)
            properties.merge(own)
            element.style.apply(properties)
            element.visibility.apply(own, depth: stack.count)
            if let ruby = properties["ruby"] {
                rubyCount += 1
                if ruby == "container" { element.ruby.container = rubyCount } else { element.ruby.part = rubyCount }
            }
            setTimes(of: &element, attributes, parent: parent)
        default: break
        }
        stack.append(element)
    }

    /// A region has its own times and may be hidden for part of them.
    private mutating func beginRegion(_ name: String, _ attributes: [XMLScanner.Attribute]) {
        var element = Element(name: "region")
        setTimes(of: &element, attributes, parent: nil)
        let properties = TimedTextProperties(attributes, styles: styles)
        var region = OpenRegion(name: name, properties: properties, start: element.start, depth: stack.count)
        if element.start > .zero || element.end != nil { region.visibility.limit(to: element.start, element.end) }
        region.visibility.apply(properties, depth: stack.count)
        openRegion = region
    }

    /// Changes the parent element for a time. Only settings that hide text are relevant.
    private mutating func take(set attributes: [XMLScanner.Attribute]) {
        let properties = TimedTextProperties(attributes, styles: [:])
        var times = Element(name: "set")
        if openRegion != nil, let start = openRegion?.start, let depth = openRegion?.depth {
            setTimes(of: &times, attributes, parent: Element(name: "region", start: start))
            openRegion?.visibility.set(properties, from: times.start, to: times.end, depth: depth)
            return
        }
        guard let index = stack.indices.last, ["body", "div", "p", "span", "br"].contains(stack[index].name) else {
            return
        }
        var parent = stack[index]
        parent.isSequence = false
        setTimes(of: &times, attributes, parent: parent)
        if properties.values.keys.contains(where: { $0 != "display" && $0 != "visibility" }) {
            notes.add("style animation (set) is not supported", line: scanner.line)
        }
        stack[index].visibility.set(properties, from: times.start, to: times.end, depth: index)
    }

    /// Captions may be images: a background of a division (IMSC1, SMPTE ST 2052-1) or an element (IMSC1.1).
    private mutating func noteImages(_ name: String, _ attributes: [XMLScanner.Attribute]) {
        guard !hasImages else { return }
        let isImage =
            name == "image" && stack.contains { $0.name == "body" }
            || attributes.contains { $0.name.hasSuffix("backgroundImage") && !$0.value.isEmpty }
        guard isImage else { return }
        hasImages = true
        notes.add("image captions (IMSC1 Image Profile) are not supported, only text", line: scanner.line)
    }

    private mutating func takeRoot(_ attributes: [XMLScanner.Attribute]) {
        clock = TimedTextTime(attributes: attributes)
        for attribute in attributes {
            let parts = attribute.value.split(separator: " ")
            switch attribute.name {
            case "xml:lang": language = attribute.value.isEmpty ? nil : attribute.value
            case "tts:extent":
                let sizes = parts.compactMap { $0.hasSuffix("px") ? Double($0.dropLast(2)) : nil }
                if sizes.count == 2, sizes.allSatisfy({ $0 >= 1 && $0 <= 100_000 }) {
                    rootExtent = (sizes[0], sizes[1])
                }
            case "ttp:cellResolution":
                let numbers = parts.compactMap { Int($0) }
                if numbers.count == 2, numbers.allSatisfy({ (1...10_000).contains($0) }) {
                    cells = (numbers[0], numbers[1])
                }
            default: break
            }
        }
    }

    private mutating func takeStyle(_ attributes: [XMLScanner.Attribute]) {
        let properties = TimedTextProperties(attributes, styles: styles)
        if openRegion != nil {
            openRegion?.properties.merge(properties)
        } else if let name = attributes.first(where: { $0.name == "xml:id" })?.value,
            styles.count < Self.maxDefinitionCount
        {
            styles[name] = properties
        }
    }

    private mutating func setTimes(of element: inout Element, _ attributes: [XMLScanner.Attribute], parent: Element?) {
        func time(_ name: String) -> MediaTime? {
            guard let text = attributes.first(where: { $0.name == name })?.value else { return nil }
            guard let time = clock.time(text), time.isNumeric else {
                notes.add("\(name) \"\(text.prefix(64))\" is not a time", line: scanner.line)
                return nil
            }
            return time
        }
        let base = parent.map { $0.isSequence ? $0.cursor : $0.start } ?? .zero
        element.start = base + (time("begin") ?? .zero)
        var end = time("end").map { base + $0 }
        if let duration = time("dur") { end = min(end ?? .positiveInfinity, element.start + duration) }
        if let limit = parent?.end { end = min(end ?? limit, limit) }
        element.end = end
        element.cursor = element.start
    }

    private mutating func end(_ name: String) throws(CaptionError) {
        guard let element = stack.popLast() else { return }
        switch name {
        case "region":
            if let region = openRegion, regions.count < Self.maxDefinitionCount {
                var visibility = region.visibility
                // A style inside the region may also hide it.
                if region.properties["display"] == "none", visibility == TimedTextVisibility() {
                    visibility.apply(region.properties, depth: region.depth)
                }
                regions[region.name] = region.properties.ofRegion
                regionVisibility[region.name] = visibility
                regionValues[region.name] = CaptionRegion(
                    identifier: region.name, properties: region.properties, root: rootExtent, cells: cells)
            }
            openRegion = nil
        case "p" where !isInParagraph: try finishParagraph(element)
        default: break
        }
        guard ["body", "div", "p", "span"].contains(name), let parent = stack.indices.last, stack[parent].isSequence
        else { return }
        stack[parent].cursor = element.end ?? max(element.start, element.cursor)
    }

    // MARK: Paragraphs

    private mutating func finishParagraph(_ paragraph: Element) throws(CaptionError) {
        let runs = runs
        self.runs = []
        if let end = paragraph.end, end <= paragraph.start {
            if !runs.isEmpty { notes.add("a paragraph that ends before it starts", line: paragraphLine) }
            return
        }
        // If pieces of text name regions, other pieces have no region and are not shown.
        if paragraph.region == nil, runs.contains(where: { $0.element.region != nil }) {
            var names: [String] = []
            var parts: [String: [Run]] = [:]
            for run in runs {
                guard let name = run.element.region else { continue }
                if parts[name] == nil { names.append(name) }
                parts[name, default: []].append(run)
            }
            for name in names {
                var part = paragraph
                part.region = name
                try finish(part, parts[name] ?? [])
            }
            return
        }
        try finish(paragraph, runs)
    }

    private mutating func finish(_ paragraph: Element, _ runs: [Run]) throws(CaptionError) {
        var changes: Set<MediaTime> = [paragraph.start]
        for run in runs {
            for time in [run.element.start, run.element.end].compactMap({ $0 }) + run.element.visibility.changeTimes
            where time > paragraph.start && time < paragraph.end ?? .positiveInfinity {
                if changes.count < Self.maxChangeCount { changes.insert(time) }
            }
        }
        let starts = changes.sorted()
        for (index, start) in starts.enumerated() {
            let shown = runs.filter { run in
                run.element.start <= start && run.element.end.map { $0 > start } ?? true
                    && !run.element.style.isHidden && !run.element.visibility.isHidden(at: start)
            }
            let pieces = Self.pieces(of: shown)
            guard !pieces.isEmpty else { continue }
            let end = index + 1 < starts.count ? starts[index + 1] : paragraph.end
            try add(pieces, from: start, to: end, paragraph)
        }
    }

    private mutating func add(
        _ pieces: [StyledText], from start: MediaTime, to end: MediaTime?, _ paragraph: Element
    ) throws(CaptionError) {
        let region = paragraph.region.flatMap { regionValues[$0] }
        var caption = Caption(
            "", timeRange: MediaTimeRange(start: start, duration: .zero), region: region,
            textAlignment: paragraph.style.alignment)
        caption.setPieces(pieces)
        if let last = items.last, last.end == start, last.caption.text == caption.text,
            last.caption.styles == caption.styles, last.caption.region == caption.region, start > paragraph.start
        {
            items[items.count - 1].end = end
            return
        }
        textByteCount += caption.text.utf8.count + 64
        guard textByteCount <= Self.maxTextByteCount else {
            throw CaptionError(code: .limitExceeded, line: paragraphLine, text: "too much text")
        }
        items.append(Item(caption: caption, end: end))
    }

    /// Returns the text of runs with white space according to `xml:space`, without white space at line ends.
    private static func pieces(of runs: [Run]) -> [StyledText] {
        var pieces: [StyledText] = []
        /// The position of each piece within a ruby container if it is a base.
        var bases: [(container: Int, part: Int)?] = []
        var texts: [RubyText] = []
        var isAtLineStart = true
        var endsWithSpace = false
        func trimEnd() {
            guard endsWithSpace, let last = pieces.indices.last else { return }
            pieces[last].text.unicodeScalars.removeLast()
            if pieces[last].text.isEmpty {
                pieces.removeLast()
                bases.removeLast()
            }
            endsWithSpace = false
        }
        for run in runs {
            var text = String.UnicodeScalarView()
            let (role, ruby) = (run.element.style.rubyRole, run.element.ruby)
            if role == .text {
                // Ruby text is not part of the line.
                if texts.last?.part != ruby.part {
                    texts.append(
                        RubyText(
                            container: ruby.container, part: ruby.part, position: run.element.style.rubyPosition))
                }
                texts[texts.count - 1].words += run.text.split(whereSeparator: \.isWhitespace).map(String.init)
                continue
            }
            if role == .container, run.text.allSatisfy(\.isWhitespace), !run.isBreak { continue }
            if run.isBreak {
                trimEnd()
                text = "\n".unicodeScalars
                isAtLineStart = true
            } else if run.element.preservesSpace {
                text = run.text.unicodeScalars
                isAtLineStart = text.last.map { $0 == "\n" } ?? isAtLineStart
                endsWithSpace = text.isEmpty && endsWithSpace
            } else {
                for scalar in run.text.unicodeScalars {
                    if scalar == " " || scalar == "\n" || scalar == "\t" || scalar == "\r" {
                        if !isAtLineStart, !endsWithSpace {
                            text.append(" ")
                            endsWithSpace = true
                        }
                    } else {
                        text.append(scalar)
                        endsWithSpace = false
                        isAtLineStart = false
                    }
                }
            }
            guard !text.isEmpty else { continue }
            pieces.append(StyledText(text: String(text), style: run.element.style.style))
            bases.append(role == .base ? ruby : nil)
        }
        trimEnd()
        annotate(&pieces, bases, with: texts.filter { !$0.words.isEmpty })
        while let last = pieces.last, last.text == "\n" { pieces.removeLast() }
        while let first = pieces.first, first.text == "\n" { pieces.removeFirst() }
        return pieces
    }

    private struct RubyText {
        var container: Int
        var part: Int
        var position: CaptionRuby.Position
        var words: [String] = []
    }

    /// Assigns each ruby text to the first base of its container without one.
    private static func annotate(
        _ pieces: inout [StyledText], _ bases: [(container: Int, part: Int)?], with texts: [RubyText]
    ) {
        guard !texts.isEmpty else { return }
        // The pieces of each base without ruby text, the last base first.
        var free: [Int: [[Int]]] = [:]
        var last: (container: Int, part: Int)?
        for (index, base) in bases.enumerated().reversed() {
            guard let base else { continue }
            let continues = last.map { $0 == base } ?? false
            let rest = continues ? free[base.container]?.popLast() ?? [] : []
            free[base.container, default: []].append(rest + [index])
            last = base
        }
        for text in texts {
            let ruby = CaptionRuby(text: text.words.joined(separator: " "), position: text.position)
            for index in free[text.container]?.popLast() ?? [] { pieces[index].style.ruby = ruby }
        }
    }

    /// Returns the captions with an end. A paragraph without one is shown until the next begins.
    private func captions() -> [Caption] {
        let starts = Set(items.map(\.caption.timeRange.start)).sorted()
        return items.map { item in
            var caption = item.caption
            let start = caption.timeRange.start
            if let end = item.end {
                caption.timeRange = MediaTimeRange(start: start, end: end)
                return caption
            }
            let next = starts.partitioningIndex { $0 > start }
            caption.timeRange =
                next < starts.count
                ? MediaTimeRange(start: start, end: starts[next])
                : MediaTimeRange(start: start, duration: .positiveInfinity)
            return caption
        }
    }
}

extension Array {
    /// The index of the first element for which the condition is true. All elements before it must be false.
    func partitioningIndex(where belongsToSecond: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if belongsToSecond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
