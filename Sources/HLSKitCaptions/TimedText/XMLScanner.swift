/// Reads the subset of XML that caption files need, one event at a time.
///
/// Only the five predefined entities and numeric references are supported. A document type that declares more entities
/// is refused, so that no text can grow and no resource can be fetched. The depth of elements is limited.
///
/// A separate reader exists because XML libraries accept more than that.
struct XMLScanner {
    struct Attribute: Hashable {
        /// The name, with the prefix `tts`, `ttp` or `xml` for the namespaces of TTML and XML, or else with the
        /// namespace itself.
        var name: String
        var value: String
    }

    enum Event: Hashable {
        /// The `name` without its prefix, or ``foreignName`` for elements outside TTML's namespaces.
        case start(name: String, attributes: [Attribute])
        case end(name: String)
        case text(String)
    }

    /// The name of elements that TTML does not define. It is not a valid element name.
    static let foreignName = "?"
    static let maxDepth = 64
    private static let maxAttributeCount = 64

    private struct Element {
        var qualifiedName: Substring
        var name: String
        var prefixes: [Substring]
        var defaultNamespace: String?
    }

    private var rest: Substring.UnicodeScalarView
    private(set) var line = 1
    private var open: [Element] = []
    /// The standard prefixes that replace each prefix, the innermost declaration last.
    private var namespaces: [Substring: [String]] = [:]
    /// The name of an empty element, whose end is the next event.
    private var pendingEnd: String?
    private var hasRoot = false
    private var rootNamespace: String?

    init(_ text: String) { rest = Substring(text).unicodeScalars }

    mutating func next() throws(CaptionError) -> Event? {
        if let name = pendingEnd {
            pendingEnd = nil
            close()
            return .end(name: name)
        }
        while let scalar = rest.first {
            guard scalar == "<" else {
                let text = try takeText()
                if open.isEmpty { continue }
                return .text(text)
            }
            if starts(with: "<!--") {
                try skip(past: "-->", what: "a comment")
            } else if starts(with: "<![CDATA[") {
                let text = try skip(past: "]]>", what: "a CDATA section").dropFirst(9).dropLast(3)
                if !open.isEmpty { return .text(String(text)) }
            } else if starts(with: "<?") {
                try skip(past: "?>", what: "a processing instruction")
            } else if starts(with: "<!") {
                try skipDocumentType()
            } else if starts(with: "</") {
                return .end(name: try takeEndTag())
            } else {
                return try takeStartTag()
            }
        }
        guard open.isEmpty else { throw malformed("the file ends inside of <\(open.last?.qualifiedName ?? "")>") }
        guard hasRoot else { throw malformed("no element") }
        return nil
    }

    func malformed(_ text: String) -> CaptionError {
        CaptionError(code: .malformed, line: line, text: text)
    }

    // MARK: Parts

    private func starts(with text: String) -> Bool { rest.starts(with: text.unicodeScalars) }

    private mutating func advance(to end: String.Index) -> Substring.UnicodeScalarView {
        let part = rest[..<end]
        for scalar in part where scalar == "\n" { line += 1 }
        rest = rest[end...]
        return part
    }

    @discardableResult
    private mutating func skip(past mark: String, what: String) throws(CaptionError) -> Substring.UnicodeScalarView {
        let mark = Array(mark.unicodeScalars)
        var at = rest.startIndex
        while let index = rest[at...].firstIndex(of: mark[0]) {
            if rest[index...].starts(with: mark) { return advance(to: rest.index(index, offsetBy: mark.count)) }
            at = rest.index(after: index)
        }
        throw malformed("\(what) does not end")
    }

    private mutating func skipDocumentType() throws(CaptionError) {
        guard let end = rest.firstIndex(where: { $0 == ">" || $0 == "[" }) else {
            throw malformed("a declaration does not end")
        }
        guard rest[end] == ">" else {
            throw CaptionError(
                code: .malformed, line: line, text: "a document type with declarations is not supported")
        }
        _ = advance(to: rest.index(after: end))
    }

    private mutating func takeText() throws(CaptionError) -> String {
        let end = rest.firstIndex(of: "<") ?? rest.endIndex
        return Self.decoded(advance(to: end))
    }

    /// Replaces the references in a text. Unknown references do not change.
    private static func decoded(_ text: Substring.UnicodeScalarView) -> String {
        guard text.contains("&") else { return String(text) }
        var result = String.UnicodeScalarView()
        var rest = text
        while let scalar = rest.first {
            rest = rest.dropFirst()
            guard scalar == "&" else {
                result.append(scalar)
                continue
            }
            let head = rest.prefix(12)
            guard let end = head.firstIndex(of: ";"), let decoded = reference(String(head[..<end])) else {
                result.append(scalar)
                continue
            }
            result.append(decoded)
            rest = rest[rest.index(after: end)...]
        }
        return String(result)
    }

    private static func reference(_ name: String) -> Unicode.Scalar? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.hasPrefix("#") else { return nil }
            let isHexadecimal = name.hasPrefix("#x")
            let digits = name.dropFirst(isHexadecimal ? 2 : 1)
            guard digits.first?.isHexDigit == true, let value = UInt32(digits, radix: isHexadecimal ? 16 : 10),
                value > 0
            else { return nil }
            return Unicode.Scalar(value)
        }
    }

    private mutating func takeEndTag() throws(CaptionError) -> String {
        let tag = try skip(past: ">", what: "a tag").dropFirst(2).dropLast()
        let name = Substring(tag.trimmed)
        guard let element = open.last, element.qualifiedName == name else {
            throw malformed("</\(name.prefix(64))> does not match an open tag")
        }
        close()
        return element.name
    }

    private mutating func close() {
        for prefix in open.popLast()?.prefixes ?? [] { _ = namespaces[prefix]?.popLast() }
    }

    private mutating func takeStartTag() throws(CaptionError) -> Event {
        rest = rest.dropFirst()
        let qualifiedName = takeName()
        guard !qualifiedName.isEmpty else { throw malformed("a tag without a name") }
        guard !hasRoot || !open.isEmpty else { throw malformed("a second root element") }
        guard open.count < Self.maxDepth else {
            throw CaptionError(
                code: .limitExceeded, line: line, text: "more than \(Self.maxDepth) elements inside one another")
        }
        var attributes: [(name: Substring, value: String)] = []
        var isEmpty = false
        while true {
            skipBlanks()
            guard let scalar = rest.first else { throw malformed("<\(qualifiedName.prefix(64)) does not end") }
            if scalar == ">" {
                rest = rest.dropFirst()
                break
            }
            if scalar == "/" {
                rest = rest.dropFirst()
                isEmpty = true
                continue
            }
            attributes.append(try takeAttribute())
            guard attributes.count <= Self.maxAttributeCount else {
                throw CaptionError(code: .limitExceeded, line: line, text: "too many attributes")
            }
        }
        hasRoot = true
        var element = Element(
            qualifiedName: qualifiedName, name: String(qualifiedName.split(separator: ":").last ?? qualifiedName),
            prefixes: [])
        for attribute in attributes where attribute.name.hasPrefix("xmlns:") {
            let prefix = attribute.name.dropFirst(6)
            element.prefixes.append(prefix)
            namespaces[prefix, default: []].append(Self.prefix(forNamespace: attribute.value))
        }
        element.defaultNamespace =
            attributes.first { $0.name == "xmlns" }.map { Self.prefix(forNamespace: $0.value) }
            ?? open.last?.defaultNamespace
        if isForeign(qualifiedName, default: element.defaultNamespace) { element.name = Self.foreignName }
        open.append(element)
        if isEmpty { pendingEnd = element.name }
        return .start(
            name: element.name,
            attributes: attributes.filter { !$0.name.hasPrefix("xmlns") }.map {
                Attribute(name: resolved($0.name), value: $0.value)
            })
    }

    /// Whether an element has a declared namespace other than TTML and its extensions. The root's own namespace is
    /// always treated as TTML.
    private mutating func isForeign(_ qualifiedName: Substring, default namespace: String?) -> Bool {
        var namespace = namespace
        if let colon = qualifiedName.firstIndex(of: ":") { namespace = namespaces[qualifiedName[..<colon]]?.last }
        guard let namespace else { return false }
        if open.isEmpty { rootNamespace = namespace }
        if namespace == rootNamespace || namespace == "tts:" || namespace == "ttp:" { return false }
        return !["ttml", "ttaf1", "smpte-tt", "ebu:tt", "imsc"].contains { namespace.contains($0) }
    }

    private mutating func takeName() -> Substring {
        let end =
            rest.firstIndex {
                $0.properties.isWhitespace || $0 == ">" || $0 == "/" || $0 == "=" || $0 == "<" || $0 == "\""
                    || $0 == "'"
            } ?? rest.endIndex
        return Substring(advance(to: end))
    }

    private mutating func skipBlanks() {
        let end = rest.firstIndex { !$0.properties.isWhitespace } ?? rest.endIndex
        _ = advance(to: end)
    }

    private mutating func takeAttribute() throws(CaptionError) -> (name: Substring, value: String) {
        let name = takeName()
        skipBlanks()
        guard !name.isEmpty, rest.first == "=" else { throw malformed("an attribute without a value") }
        rest = rest.dropFirst()
        skipBlanks()
        guard let quote = rest.first, quote == "\"" || quote == "'" else {
            throw malformed("the value of \(name.prefix(64)) is not quoted")
        }
        rest = rest.dropFirst()
        guard let end = rest.firstIndex(of: quote) else {
            throw malformed("the value of \(name.prefix(64)) does not end")
        }
        let value = Self.decoded(advance(to: end))
        rest = rest.dropFirst()
        return (name, value)
    }

    private static func prefix(forNamespace uri: String) -> String {
        // From the drafts of 2006 to TTML2, only the start of the namespaces differs.
        if uri.hasSuffix("#styling") || uri.hasSuffix("#style") { return "tts:" }
        if uri.hasSuffix("#parameter") { return "ttp:" }
        // No declaration uses a longer namespace, and each name would repeat it.
        return uri.utf8.count <= 256 ? uri + " " : "? "
    }

    private func resolved(_ name: Substring) -> String {
        guard let colon = name.firstIndex(of: ":"), let prefix = namespaces[name[..<colon]]?.last else {
            return String(name)
        }
        return prefix + name[name.index(after: colon)...]
    }
}
