import FoundationEssentials
import Glibc
import HLSKitCore

/// 16 bytes as `--key` and `--iv` take them.
struct KeyArgument: Sendable, Equatable {
    static let byteCount = 16

    let bytes: [UInt8]

    /// Parses 32 hexadecimal digits, with or without `0x`, in byte order.
    init(parsing text: String) throws(ArgumentValueError) {
        let digits = text.lowercased().hasPrefix("0x") ? text.dropFirst(2) : text[...]
        var bytes: [UInt8] = []
        var rest = digits
        while rest.count >= 2, let byte = UInt8(rest.prefix(2), radix: 16), rest.first != "+", rest.first != "-" {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        guard rest.isEmpty, bytes.count == Self.byteCount else {
            throw ArgumentValueError("expected 32 hexadecimal digits")
        }
        self.bytes = bytes
    }

    /// Parses digits, or reads a file with the 16 bytes, because other users can see command lines.
    init(parsingDigitsOrFile text: String) throws(ArgumentValueError) {
        if let key = try? Self(parsing: text) {
            self = key
            return
        }
        let failure = ArgumentValueError("neither 32 hexadecimal digits nor a file of 16 bytes")
        guard access(text, F_OK) == 0 else { throw failure }
        let path = try FileArgument.readable(text)
        guard let bytes = try? FileBytes.read(path, atMost: Self.byteCount + 1), bytes.count == Self.byteCount else {
            throw failure
        }
        self.bytes = bytes
    }
}
