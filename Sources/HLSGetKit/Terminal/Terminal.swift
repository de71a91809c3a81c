import Glibc

package struct Terminal: Sendable, Equatable {
    /// Columns, or `nil` if unknown.
    var width: Int?
    package var isTerminal: Bool
    /// Whether colour is allowed, which excludes `NO_COLOR` (no-color.org) and dumb terminals.
    package var allowsColor: Bool
    /// Whether 24-bit colours are understood. Without `COLORTERM`, only 256 colours are.
    package var allowsTrueColor: Bool
    package var allowsUnicode: Bool
    /// Whether escape sequences are understood. Apart from colour, only "erase to the end of the line" is used.
    package var understandsEscapes: Bool

    package init(descriptor: Int32, environment: (String) -> String? = Self.variable) {
        self.init(isTerminal: isatty(descriptor) == 1, width: Self.width(of: descriptor), environment: environment)
    }

    init(isTerminal: Bool, width: Int?, environment: (String) -> String?) {
        self.isTerminal = isTerminal
        self.width = width
        let type = environment("TERM") ?? ""
        understandsEscapes = isTerminal && !type.isEmpty && type != "dumb"
        allowsColor = understandsEscapes && (environment("NO_COLOR") ?? "").isEmpty
        allowsTrueColor = understandsEscapes && ["truecolor", "24bit"].contains(environment("COLORTERM") ?? "")
        // The first non-empty variable applies (POSIX locale rules).
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty } ?? ""
        let encoding = locale.lowercased()
        allowsUnicode = encoding.contains("utf-8") || encoding.contains("utf8")
    }

    static func width(of descriptor: Int32) -> Int? { size(of: descriptor)?.columns }

    package static func size(of descriptor: Int32) -> (columns: Int, rows: Int)? {
        // struct winsize: rows, columns, and a size in pixels that is often 0.
        var size: [UInt16] = [0, 0, 0, 0]
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size[1] > 0 else { return nil }
        return (Int(size[1]), Int(size[0]))
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        return String(cString: value)
    }
}
