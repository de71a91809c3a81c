import Glibc

/// A policy that decides which network addresses may be connected to (R58).
///
/// It checks the resolved address of every socket before it connects, including redirects and proxies. So no name,
/// spelling or redirect can bypass it.
public struct AddressPolicy: Sendable, Hashable {
    package var denied: [AddressRange]

    /// Creates a policy that denies the given addresses, by default none.
    public init(denied: [AddressRange] = []) { self.denied = denied }

    /// A policy that denies all addresses that are not public.
    ///
    /// It denies loopback, private, link-local, shared, multicast and reserved addresses of IPv4 and IPv6. It also
    /// checks IPv4 addresses inside IPv6 addresses (mapped, compatible, translated, NAT64, Teredo, 6to4, ISATAP).
    public static let denyPrivate = AddressPolicy(
        denied: [
            // From RFC 6890 and the registries of special-purpose addresses.
            "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
            "192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4",
            "::/128", "::1/128", "64:ff9b:1::/48", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
        ].compactMap { AddressRange($0) })

    package func allows(_ address: String) -> Bool {
        guard let bits = AddressRange.bits(of: address) else { return denied.isEmpty }
        return allows(bits)
    }

    package func allows(_ address: UInt128) -> Bool {
        let candidates = [address] + EmbeddedIPv4.addresses(in: address).map(AddressRange.mapped)
        return !candidates.contains { address in denied.contains { $0.contains(address) } }
    }
}

/// The IPv4 addresses inside an IPv6 address, to which a tunnel or translator may forward its packets.
enum EmbeddedIPv4 {
    static func addresses(in address: UInt128) -> [UInt32] {
        func bits(from offset: UInt128) -> UInt32 { UInt32(truncatingIfNeeded: address >> (96 - offset)) }
        var found: [UInt32] = []
        // IPv4-compatible (::/96, RFC 4291 §2.5.5.1). :: and ::1 become 0.0.0.0 and 0.0.0.1, which are equivalent.
        if address >> 32 == 0 { found.append(bits(from: 96)) }
        // IPv4-translated (::ffff:0:0:0/96, RFC 2765 §2.1).
        if address >> 32 == 0xFFFF_0000 { found.append(bits(from: 96)) }
        // NAT64 (64:ff9b::/96, RFC 6052 §2.1).
        if address >> 32 == 0x0064_FF9B << 64 { found.append(bits(from: 96)) }
        // Local-use NAT64 (64:ff9b:1::/48, RFC 8215) with any prefix length. Bits 64 to 71 are not part of the address.
        if address >> 80 == 0x0064_FF9B_0001 {
            let joined = ((address >> 64) << 56) | (address & (1 << 56 - 1))
            found.append(bits(from: 96))
            for offset in [48, 56, 64] as [UInt128] {
                found.append(UInt32(truncatingIfNeeded: joined >> (88 - offset)))
            }
        }
        // Teredo (2001::/32, RFC 4380 §4): the server, and the client with inverted bits.
        if address >> 96 == 0x2001_0000 { found += [bits(from: 32), ~bits(from: 96)] }
        // 6to4 (2002::/16, RFC 3056 §2).
        if address >> 112 == 0x2002 { found.append(bits(from: 16)) }
        // ISATAP (any prefix, RFC 5214 §6.1).
        if (address >> 32) & 0xFDFF_FFFF == 0x5EFE { found.append(bits(from: 96)) }
        return found
    }
}

/// A range of addresses in the notation of RFC 4632 (`10.0.0.0/8`, `fc00::/7`).
public struct AddressRange: Sendable, Hashable, CustomStringConvertible {
    public let description: String
    private let prefix: UInt128
    private let prefixLength: Int

    /// Creates a range or a single address.
    ///
    /// - Returns: The range, or `nil` if `text` is invalid.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first, let bits = Self.bits(of: String(address)) else { return nil }
        let width = address.contains(":") ? 128 : 32
        var length = width
        if parts.count == 2 {
            guard let number = Int(parts[1]), (0...width).contains(number) else { return nil }
            length = number
        }
        description = text
        prefixLength = length + 128 - width
        prefix = Self.masked(bits, to: prefixLength)
    }

    func contains(_ address: UInt128) -> Bool { Self.masked(address, to: prefixLength) == prefix }

    private static func masked(_ bits: UInt128, to length: Int) -> UInt128 {
        length == 0 ? 0 : bits & (UInt128.max << UInt128(128 - length))
    }

    package static func mapped(_ address: UInt32) -> UInt128 { 0xFFFF_0000_0000 | UInt128(address) }

    /// Returns the number of a numeric address. An IPv4 address is returned as its mapped IPv6 address.
    package static func bits(of text: String) -> UInt128? {
        var v4 = in_addr()
        if inet_pton(AF_INET, text, &v4) == 1 { return mapped(UInt32(bigEndian: v4.s_addr)) }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, text, &v6) == 1 else { return nil }
        return withUnsafeBytes(of: &v6) { bits(of: $0) }
    }

    package static func text(of bits: UInt128) -> String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        if bits >> 32 == 0xFFFF {
            var v4 = UInt32(truncatingIfNeeded: bits).bigEndian
            inet_ntop(AF_INET, &v4, &text, socklen_t(text.count))
        } else {
            var v6 = bits.bigEndian
            inet_ntop(AF_INET6, &v6, &text, socklen_t(text.count))
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns the number of an address in network byte order.
    package static func bits(of bytes: UnsafeRawBufferPointer) -> UInt128 { bytes.reduce(0) { $0 << 8 | UInt128($1) } }
}
