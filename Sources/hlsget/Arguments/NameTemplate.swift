import Glibc
import HLSKitCore

/// A file name with words in braces that stand for what is written: `{name}_{height}p.{ext}`.
///
/// Words of the media are known once it was written: until then the file is called by them as they stand.
struct NameTemplate: Sendable {
    enum Word: String, CaseIterable, Sendable {
        case name, ext, date, time, width, height, bandwidth

        /// It is known only when the media is.
        fileprivate var isOfMedia: Bool { [.width, .height, .bandwidth].contains(self) }
        fileprivate var text: String { "{\(rawValue)}" }
    }

    private enum Part: Sendable {
        case text(String)
        case word(Word)
    }

    private let parts: [Part]

    /// - Parameter text: `{{` and `}}` are braces.
    init(parsing text: String) throws(ArgumentValueError) {
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

    /// The name, with words of the media as they stand.
    ///
    /// - Parameters:
    ///   - url: of the stream.
    ///   - ending: nil where nothing says what it is.
    ///   - now: in the zone of this machine.
    func path(url: String, ending: String?, now: tm = Self.now) throws(ArgumentValueError) -> String {
        var path = ""
        // Without the words that are filled in later.
        var plain = ""
        for part in parts {
            let text: String
            switch part {
            case .text(let given): text = given
            case .word(.name): text = DownloadTarget.name(of: url)
            case .word(.ext):
                guard let ending else { throw ArgumentValueError("-o: {ext} needs -f") }
                text = ending
            case .word(.date):
                text = [Int(now.tm_year) + 1900, Int(now.tm_mon) + 1, Int(now.tm_mday)].map(Self.digits)
                    .joined(separator: "-")
            case .word(.time): text = [now.tm_hour, now.tm_min, now.tm_sec].map { Self.digits(Int($0)) }.joined()
            case .word(let word):
                path += word.text
                plain += "/"
                continue
            }
            path += text
            plain += text
        }
        if let word = Word.allCases.first(where: { $0.isOfMedia && plain.contains($0.text) }) {
            throw ArgumentValueError("-o: \(word.text) stands for the media and cannot be in the name itself")
        }
        return path
    }

    private static func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    static var now: tm {
        var now = Glibc.time(nil)
        var parts = tm()
        localtime_r(&now, &parts)
        return parts
    }
}

/// What was written, for the words of a ``NameTemplate``.
struct NameFacts: Sendable, Equatable {
    var size: PixelSize?
    /// Of the variant, in bits per second.
    var bandwidth: Int?

    /// Fills words of the media in. What is not known is `unknown`.
    func path(_ template: String) -> String {
        let values: [(NameTemplate.Word, Int?)] = [
            (.width, size?.width), (.height, size?.height), (.bandwidth, bandwidth),
        ]
        return values.reduce(template) { path, value in
            path.replacing(value.0.text, with: value.1.map(String.init) ?? "unknown")
        }
    }

    /// Gives a file that was written its name.
    ///
    /// - Returns: the path that it has now.
    func rename(_ template: String, overwrite: Bool) throws(HLSError) -> String {
        let path = path(template)
        guard path != template else { return template }
        if overwrite ? Glibc.rename(template, path) == 0 : OutputFile.rename(template, toFree: path) { return path }
        guard errno == EEXIST else {
            throw HLSError(code: .writeFailed, path: template, text: String(cString: strerror(errno)))
        }
        throw HLSError(code: .fileExists, path: path, text: "the file exists; what was written is \(template)")
    }
}
