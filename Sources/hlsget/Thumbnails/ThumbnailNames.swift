import Glibc
import HLSGetKit
import HLSKitCore

/// The names of image files: a folder, or a pattern with a placeholder for the number.
struct ThumbnailNames: Sendable, Equatable {
    private let before: String
    private let after: String
    /// The minimum number of digits, or `nil` for a name without a placeholder.
    private let width: Int?
    let format: ThumbnailFormat
    /// The folder, which is created if missing.
    let folder: String?

    /// - Parameter text: `DIR/`, an existing folder, a pattern such as `a-%03d.png`, or a file for one image. An empty
    ///   text is the working directory.
    init(_ text: String, format: ThumbnailFormat?) throws(ArgumentValueError) {
        if text.isEmpty || text.hasSuffix("/") || Self.isFolder(text) {
            self.format = format ?? .jpeg
            let path = text.isEmpty || text.hasSuffix("/") ? text : text + "/"
            folder = path.isEmpty ? nil : path
            before = path + "thumbnail-"
            after = self.format == .png ? ".png" : ".jpg"
            width = 4
            return
        }
        if text == ThumbnailNames.standardOutput {
            self.format = format ?? .jpeg
            (before, after, width, folder) = (text, "", nil, nil)
            return
        }
        guard let percent = text.firstIndex(of: "%") else {
            self.format = try Self.format(format, text)
            (before, after, width, folder) = (text, "", nil, nil)
            return
        }
        let digits = text[text.index(after: percent)...].prefix { $0.isASCII && $0.isNumber }
        guard digits.endIndex < text.endIndex, text[digits.endIndex] == "d", digits.count <= 2 else {
            throw ArgumentValueError("-o: write the number pattern as %d or %03d")
        }
        let prefix = String(text[..<percent])
        before = prefix
        folder = prefix.lastIndex(of: "/").map { String(prefix[...$0]) }
        after = String(text[text.index(after: digits.endIndex)...])
        guard !after.contains("%") else { throw ArgumentValueError("-o: only one number pattern is allowed") }
        width = max(1, Int(digits) ?? 1)
        self.format = try Self.format(format, text)
    }

    static let standardOutput = "-"

    var isSingle: Bool { width == nil }

    /// - Parameter number: The number, from 1.
    func name(_ number: Int) -> String {
        width.map { before + number.digits($0) + after } ?? before
    }

    private static func format(_ chosen: ThumbnailFormat?, _ path: String) throws(ArgumentValueError) -> ThumbnailFormat
    {
        if let chosen { return chosen }
        return try ThumbnailFormat(path: path)
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
