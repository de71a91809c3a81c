/// Why a trace, a movie or a recording cannot be read or written, or a simulation not be run.
public struct SimulationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line of the file, 1 for the first; nil if it is not about one line.
    public var line: Int?
    /// The cause, in one line.
    public var text: String

    /// Makes an error; `line` counts from 1 and is nil if no line is to blame.
    package init(line: Int? = nil, text: String) {
        self.line = line
        self.text = text
    }

    public var description: String {
        if let line { "line \(line): \(text)" } else { text }
    }
}
