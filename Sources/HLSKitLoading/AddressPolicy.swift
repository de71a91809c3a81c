import Glibc

/// Which network addresses may be connected to (R58).
///
/// It is asked about the resolved address of every socket before it is connected, redirects and proxies included, so
/// that no name, spelling or redirect leads around it.
public struct AddressPolicy: Sendable, Hashable {
    /// Addresses in any of these are refused. Empty (the default) allows all.
    package var denied: [AddressRange]

    /// Makes a policy that denies the given addresses; by default none.
    public init(denied: [AddressRange] = []) { self.denied = denied }

    /// Refuses loopback, private, link-local, shared, multicast and reserved addresses of IPv4 and IPv6, also where
    /// an IPv6 address carries them (mapped, compatible, translated, NAT64, Teredo, 6to4, ISATAP).
    public static let denyPrivate = AddressPolicy(
        denied: [
            // RFC 6890 and the registries of special-purpose addresses.
            "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
            "192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4",
            "::/128", "::1/128", "64:ff9b:1::/48", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
        ].compactMap { AddressRange($0) })

    /// Whether a socket may be connected to `address` (numeric text).
    package func allows(_ address: String) -> Bool {
        guard let bits = AddressRange.bits(of: address) else { return denied.isEmpty }
        return allows(bits)
    }

    package func allows(_ address: UInt128) -> Bool {
        let candidates = [address] + EmbeddedIPv4.addresses(in: address).map(AddressRange.mapped)
        return !candidates.contains { address in denied.contains { $0.contains(address) } }
    }
}

/// The IPv4 addresses that an IPv6 address may stand for: where packets to it may come out of a tunnel or a translator.
enum EmbeddedIPv4 {
    static func addresses(in address: UInt128) -> [UInt32] {
        func bits(from offset: UInt128) -> UInt32 { UInt32(truncatingIfNeeded: address >> (96 - offset)) }
        var found: [UInt32] = []
        // IPv4-compatible (::/96, RFC 4291 §2.5.5.1); :: and ::1 come out as 0.0.0.0 and 0.0.0.1, which they are as good as.
        if address >> 32 == 0 { found.append(bits(from: 96)) }
        // IPv4-translated (::ffff:0:0:0/96, RFC 2765 §2.1).
        if address >> 32 == 0xFFFF_0000 { found.append(bits(from: 96)) }
        // NAT64 (64:ff9b::/96, RFC 6052 §2.1).
        if address >> 32 == 0x0064_FF9B << 64 { found.append(bits(from: 96)) }
        // NAT64 of one's own (64:ff9b:1::/48, RFC 8215): any length of prefix, where bits 64 to 71 are left out.
        if address >> 80 == 0x0064_FF9B_0001 {
            let joined = ((address >> 64) << 56) | (address & (1 << 56 - 1))
            found.append(bits(from: 96))
            for offset in [48, 56, 64] as [UInt128] {
                found.append(UInt32(truncatingIfNeeded: joined >> (88 - offset)))
            }
        }
        // Teredo (2001::/32, RFC 4380 §4): the server, and the client with its bits turned round.
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

    /// A range, or one address.
    ///
    /// - Returns: nil when `text` is neither.
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

    /// An IPv4 address as the IPv6 address that stands for it (`::ffff:a.b.c.d`).
    package static func mapped(_ address: UInt32) -> UInt128 { 0xFFFF_0000_0000 | UInt128(address) }

    /// The number of a numeric address; IPv4 as its mapped IPv6 address.
    package static func bits(of text: String) -> UInt128? {
        var v4 = in_addr()
        if inet_pton(AF_INET, text, &v4) == 1 { return mapped(UInt32(bigEndian: v4.s_addr)) }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, text, &v6) == 1 else { return nil }
        return withUnsafeBytes(of: &v6) { bits(of: $0) }
    }

    /// The address as text.
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

    /// The number of an address in network order.
    package static func bits(of bytes: UnsafeRawBufferPointer) -> UInt128 { bytes.reduce(0) { $0 << 8 | UInt128($1) } }
}
