public import HLSKitCore

extension HLSError.Domain {
    /// A trace, a movie or a recording that cannot be read or written, or a simulation that cannot be run.
    public static let simulation = HLSError.Domain(rawValue: "simulation")
}

extension HLSError {
    /// Makes an error about a file for simulations, or about a call; `line` counts from 1 and is nil if no line is to blame.
    package static func simulation(line: Int? = nil, _ text: String) -> HLSError {
        HLSError(
            code: .invalidArgument, domain: .simulation, urlString: nil, cause: text,
            detail: line.map { "line \($0)" })
    }

    /// What is wrong in a file, the line first: `line 3: not a number`.
    package var lineAndCause: String { detail.map { "\($0): \(cause)" } ?? cause }
}

extension HLSError.Code {
    /// ``VirtualClock/run(_:)`` gave up: the operation waits for something that neither the clock nor its tasks will bring.
    public static let stuck = HLSError.Code(rawValue: "stuck")
}
