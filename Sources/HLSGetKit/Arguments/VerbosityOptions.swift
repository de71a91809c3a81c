import ArgumentParser
package import HLSKitCore

package struct VerbosityOptions: ParsableArguments, Sendable {
    @Flag(name: .shortAndLong, help: "Report retries and oddities.") package var verbose = false
    @Flag(name: .shortAndLong, help: "Print errors only.") package var quiet = false

    package init() {}

    package mutating func validate() throws {
        if verbose && quiet { throw ValidationError("-v and -q are mutually exclusive") }
    }

    /// With `-v`, reports failed and redirected requests.
    package func wrap(
        _ transport: any ResourceTransport,
        _ say: @escaping @Sendable (String) -> Void = { StandardStream.error.writeLine($0) }
    ) -> any ResourceTransport {
        verbose ? VerboseTransport(base: transport, say: say) : transport
    }
}
