import ArgumentParser
import HLSKitCore

/// How much a command says on standard error.
struct SayingOptions: ParsableArguments, Sendable {
    @Flag(name: .shortAndLong, help: "Report retries and oddities.") var verbose = false
    @Flag(name: .shortAndLong, help: "Print errors only.") var quiet = false

    mutating func validate() throws {
        if verbose && quiet { throw ValidationError("-v and -q are mutually exclusive") }
    }

    /// With `-v`, tells of requests that failed or were redirected.
    ///
    /// - Parameter say: gets a line.
    func wrap(
        _ transport: any Transport, _ say: @escaping @Sendable (String) -> Void = { StandardStream.error.writeLine($0) }
    ) -> any Transport {
        verbose ? VerboseTransport(base: transport, say: say) : transport
    }
}
