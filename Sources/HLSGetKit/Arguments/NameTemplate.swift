package import Glibc
package import HLSKitCore

/// A file name with placeholders in braces: `{title}/{date}-{height}p.{ext}`.
///
/// Placeholders for media properties are filled in after writing. Until then they appear literally, and folders after
/// the first one are part of the file name.
package struct NameTemplate: Sendable {
    enum Word: String, CaseIterable, Sendable {
        case name, ext, date, time, number, part, title, width, height, bandwidth

        /// Whether the value is known only after writing.
        fileprivate var isOfMedia: Bool { [.title, .width, .height, .bandwidth].contains(self) }
        fileprivate var text: String { "{\(rawValue)}" }
    }

    private enum Part: Sendable {
        case text(String)
        case word(Word)
    }

    /// Replaces a slash in the name of a file whose folder is not known yet.
    fileprivate static let slash = "{dir}"

    private let parts: [Part]

    /// - Parameter text: The template; `{{` and `}}` are literal braces.
    package init(parsing text: String) throws(ArgumentValueError) {
        var parts: [Part] = []
        var rest = text[...]
        var plain = ""
        while let character = rest.popFirst() {
            guard character == "{" || character == "}", rest.first != character else {
                if character == "{" || character == "}" { rest.removeFirst() }
                plain.append(character)
                continue
            }
            guard character == "{", let end = rest.firstIndex(of: "}"), let word = Word(rawValue: String(rest[..<end]))
            else {
                let words = Word.allCases.map(\.text).joined(separator: " ")
                throw ArgumentValueError(
                    "-o \(TerminalText.escaped(text)): expected one of \(words); write {{ and }} for braces")
            }
            if !plain.isEmpty { parts.append(.text(plain)) }
            plain = ""
            parts.append(.word(word))
            rest = rest[rest.index(after: end)...]
        }
        if !plain.isEmpty { parts.append(.text(plain)) }
        self.parts = parts
    }

    /// Whether the name has placeholders, in which case its folders are created.
    package var hasWords: Bool {
        parts.contains { if case .word = $0 { true } else { false } }
    }

    package var distinguishesURLs: Bool {
        parts.contains { part in
            if case .word(let word) = part { [.name, .number, .title].contains(word) } else { false }
        }
    }

    /// The name with unresolved media placeholders.
    ///
    /// - Parameters:
    ///   - name: The name of the stream, or `nil` for one from its URL.
    ///   - ending: The file extension, or `nil` if unknown.
    ///   - number: The number of the URL, from 1.
    ///   - now: The current time in the local time zone.
    package func path(
        url: String, name: String? = nil, ending: String?, number: Int = 1, now: tm = Self.now
    ) throws(ArgumentValueError) -> String {
        var path = ""
        // The name without placeholders that are filled in later.
        var plain = ""
        var awaitsMedia = false
        for (index, part) in parts.enumerated() {
            let text: String
            switch part {
            case .text(let given):
                let isFolder = index == parts.count - 1 && given.hasSuffix("/")
                let name = isFolder ? String(given.dropLast()) : given
                plain += name
                path += (awaitsMedia ? name.replacing("/", with: Self.slash) : name) + (isFolder ? "/" : "")
                continue
            case .word(.name): text = name ?? DownloadTarget.name(of: url)
            case .word(.ext):
                guard let ending else { throw ArgumentValueError("-o: {ext} needs -f") }
                text = ending
            case .word(.date):
                let (year, month) = (Int(now.tm_year) + 1900, Int(now.tm_mon) + 1)
                text = [year, month, Int(now.tm_mday)].map { $0.digits(2) }.joined(separator: "-")
            case .word(.time): text = [now.tm_hour, now.tm_min, now.tm_sec].map { $0.digits(2) }.joined()
            case .word(.number): text = number.digits(2)
            case .word(let word):
                awaitsMedia = awaitsMedia || word.isOfMedia
                path += word.text
                plain += "/"
                continue
            }
            path += text
            plain += text
        }
        let later = Word.allCases.filter { $0.isOfMedia || $0 == .part }.map(\.text) + [Self.slash]
        if let word = later.first(where: { plain.contains($0) }) {
            throw ArgumentValueError("-o: \(word) stands for the media and cannot be in the name itself")
        }
        return path
    }

    package static var now: tm {
        var now = Glibc.time(nil)
        var parts = tm()
        localtime_r(&now, &parts)
        return parts
    }

    // MARK: Folders

    package static func makeFolders(of path: String) throws(HLSError) {
        var rest = path[...]
        while let slash = rest.firstIndex(of: "/") {
            rest = rest[rest.index(after: slash)...]
            let folder = String(path[..<slash])
            guard !folder.isEmpty, mkdir(folder, 0o777) != 0, errno != EEXIST else { continue }
            // An existing folder need not be writable.
            if access(folder, F_OK) == 0 { continue }
            throw HLSError(code: .notWritable, path: folder, text: String(cString: strerror(errno)))
        }
    }
}

package struct NameFacts: Sendable, Equatable {
    package var size: PixelSize?
    /// The bit rate of the variant, in bits per second.
    package var bandwidth: Int?
    /// The title that the stream declares, or one derived from the URL.
    package var title: String?

    package init(size: PixelSize? = nil, bandwidth: Int? = nil, title: String? = nil) {
        self.size = size
        self.bandwidth = bandwidth
        self.title = title
    }

    /// Fills in the media placeholders. Unknown values become `unknown`.
    package func path(_ template: String) -> String {
        let values: [(NameTemplate.Word, String?)] = [
            (.width, (size?.width).map(String.init)), (.height, (size?.height).map(String.init)),
            (.bandwidth, bandwidth.map(String.init)), (.title, title.map(Self.fileName)),
        ]
        let path = values.reduce(template) { path, value in
            path.replacing(value.0.text, with: value.1.flatMap { $0.isEmpty ? nil : $0 } ?? "unknown")
        }
        return path.replacing(NameTemplate.slash, with: "/")
    }

    package static func needSize(_ template: String) -> Bool {
        [NameTemplate.Word.width, .height].contains { template.contains($0.text) }
    }

    package static func needTitle(_ template: String) -> Bool { template.contains(NameTemplate.Word.title.text) }

    /// Makes text from a server safe for a file name. It cannot change the folder or hide the file, and its length is
    /// limited.
    static func fileName(_ text: String) -> String {
        let plain = text.unicodeScalars.map { scalar -> Character in
            scalar.isUnsafe || "/\\:*?\"<>|{}".unicodeScalars.contains(scalar) ? "_" : Character(scalar)
        }
        var name = String(plain).trimmed()
        while name.first == "." || name.first == "-" { name.removeFirst() }
        // Most file systems limit names to 255 bytes.
        while name.utf8.count > 150 { name.removeLast() }
        return name.trimmed()
    }

    /// Renames a written file to its final name, and creates its folder.
    package func rename(_ template: String, overwrite: Bool) throws(HLSError) -> String {
        let path = path(template)
        guard path != template else { return template }
        try NameTemplate.makeFolders(of: path)
        if overwrite ? Glibc.rename(template, path) == 0 : OutputFile.rename(template, toFree: path) { return path }
        guard errno == EEXIST else {
            throw HLSError(code: .writeFailed, path: template, text: String(cString: strerror(errno)))
        }
        throw HLSError(code: .fileExists, path: path, text: "the file exists; the output is in \(template)")
    }
}
