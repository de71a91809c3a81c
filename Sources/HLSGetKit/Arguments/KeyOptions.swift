import ArgumentParser
package import HLSKitCore

package struct KeyOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "Decrypt with this key instead of the playlist's: 32 hexadecimal digits, or a file of 16 bytes.",
            valueName: "hex|file"), completion: .file(),
        transform: KeyArgument.init(parsingDigitsOrFile:))
    var key: KeyArgument?
    @Option(
        help: ArgumentHelp(
            "Decrypt with this initialization vector instead of the playlist's.", valueName: "hex"),
        transform: KeyArgument.init(parsing:))
    var iv: KeyArgument?
    @Option(
        help: ArgumentHelp("Request keys from this URL instead of the playlist's.", valueName: "url"),
        transform: KeyOptions.address)
    var keyUri: String?

    package init() {}

    package mutating func validate() throws {
        if key != nil && keyUri != nil { throw ValidationError("--key and --key-uri are mutually exclusive") }
    }

    package var override: ContentKeyOverride? {
        guard key != nil || iv != nil || keyUri != nil else { return nil }
        return ContentKeyOverride(key: key?.bytes, urlString: keyUri, initializationVector: iv?.bytes)
    }

    private static func address(_ text: String) throws -> String {
        guard let scheme = URIReference(text)?.scheme?.lowercased(), ["http", "https", "data"].contains(scheme) else {
            throw ArgumentValueError("expected a URL of http, https or data; --key takes a file")
        }
        return text
    }
}
