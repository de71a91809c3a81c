public import HLSKitCore

extension HLSError.Domain {
    /// A trace, movie or recording cannot be read or written, or a simulation cannot be run.
    public static let simulation = HLSError.Domain(rawValue: "simulation")
}

extension HLSError {
    /// Creates an error about a file for simulations, or about a call. `line` counts from 1 and is nil if no single
    /// line is the cause.
    package static func simulation(line: Int? = nil, _ text: String) -> HLSError {
        HLSError(
            code: .invalidArgument, domain: .simulation, urlString: nil, cause: text,
            detail: line.map { "line \($0)" })
    }

    /// The cause of an error in a file with its line: `line 3: not a number`.
    package var lineAndCause: String { detail.map { "\($0): \(cause)" } ?? cause }
}

extension HLSError.Code {
    /// ``VirtualClock/run(_:)`` stopped because the operation waits for an outside event.
    public static let stuck = HLSError.Code(rawValue: "stuck")
}
