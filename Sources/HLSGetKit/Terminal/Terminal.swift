import Glibc

/// Capabilities of a terminal.
package struct Terminal: Sendable, Equatable {
    /// Columns; nil if it is unknown.
    var width: Int?
    package var isTerminal: Bool
    /// Colour may be used: not with `NO_COLOR` (no-color.org), nor on a dumb terminal.
    package var allowsColor: Bool
    package var allowsUnicode: Bool
    /// Escape sequences are understood, of which only "erase to the end of the line" is used besides colour.
    package var understandsEscapes: Bool

    /// The terminal behind `descriptor`, as the environment describes it.
    package init(descriptor: Int32, environment: (String) -> String? = Self.variable) {
        self.init(isTerminal: isatty(descriptor) == 1, width: Self.width(of: descriptor), environment: environment)
    }

    init(isTerminal: Bool, width: Int?, environment: (String) -> String?) {
        self.isTerminal = isTerminal
        self.width = width
        let type = environment("TERM") ?? ""
        understandsEscapes = isTerminal && !type.isEmpty && type != "dumb"
        allowsColor = understandsEscapes && (environment("NO_COLOR") ?? "").isEmpty
        // The first of these that is set decides (POSIX locale rules).
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty } ?? ""
        let encoding = locale.lowercased()
        allowsUnicode = encoding.contains("utf-8") || encoding.contains("utf8")
    }

    /// The columns of the terminal behind `descriptor` now; nil if it is not one or does not say.
    static func width(of descriptor: Int32) -> Int? { size(of: descriptor)?.columns }

    /// The columns and rows of the terminal behind `descriptor` now; nil if it is not one or does not say.
    package static func size(of descriptor: Int32) -> (columns: Int, rows: Int)? {
        // struct winsize: rows, columns, and two sizes in pixels that no one fills in.
        var size: [UInt16] = [0, 0, 0, 0]
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size[1] > 0 else { return nil }
        return (Int(size[1]), Int(size[0]))
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        return String(cString: value)
    }
}
