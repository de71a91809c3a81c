import Glibc

/// A network address or an address block as `--deny-address` takes it: `127.0.0.3`, `10.0.0.0/8`, `fd00::/8`.
struct AddressArgument: Sendable, Equatable {
    var text: String

    init(parsing text: String) throws(ArgumentValueError) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first, let bits = Self.width(of: String(address)) else {
            throw ArgumentValueError("not a numeric address; write 10.0.0.0/8 or fd00::/8")
        }
        if parts.count == 2 {
            guard !parts[1].isEmpty, parts[1].allSatisfy({ $0.isASCII && $0.isNumber }), let length = Int(parts[1]),
                length <= bits
            else { throw ArgumentValueError("the prefix length after / must be a number from 0 to \(bits)") }
        }
        self.text = text
    }

    /// The number of bits of an IPv4 or IPv6 address, or `nil` if the text is neither.
    private static func width(of address: String) -> Int? {
        var v4 = in_addr()
        if inet_pton(AF_INET, address, &v4) == 1 { return 32 }
        var v6 = in6_addr()
        return inet_pton(AF_INET6, address, &v6) == 1 ? 128 : nil
    }
}
