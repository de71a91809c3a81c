import HLSKitLoading
import Testing

@Suite("Address policy (R58)")
struct AddressPolicyTests {
    @Test(
        "private addresses in all their forms are denied",
        arguments: [
            "127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1",
            "0.0.0.0", "255.255.255.255", "224.0.0.1", "::", "::1", "fe80::1", "fc00::1", "fd12::1", "ff02::1",
            "::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "2002:7f00:1::", "64:ff9b:1::1",
            // IPv4-compatible, IPv4-translated, Teredo (client 127.0.0.1; server 10.0.0.1), ISATAP.
            "::127.0.0.1", "::10.0.0.1", "::ffff:0:127.0.0.1", "2001:0:101:101::80ff:fffe", "2001:0:a00:1::",
            "2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:192.168.0.1",
        ])
    func denied(_ address: String) { #expect(!AddressPolicy.denyPrivate.allows(address)) }

    @Test(
        "public addresses are allowed",
        arguments: [
            "1.1.1.1", "172.15.255.255", "172.32.0.0", "100.128.0.1", "192.169.0.1", "2606:4700::1111",
            "64:ff9b::1.1.1.1",
            "2002:101:101::", "::ffff:8.8.8.8", "::8.8.8.8", "::ffff:0:8.8.8.8",
            // Teredo: server 1.1.1.1, client 8.8.8.8.
            "2001:0:101:101::f7f7:f7f7", "2001:db8::7f00:1", "2606:4700::5efe:8.8.8.8",
        ])
    func allowed(_ address: String) { #expect(AddressPolicy.denyPrivate.allows(address)) }

    @Test(
        "ranges contain the addresses of their prefix",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.0", false), ("10.9.9.9/8", "10.0.0.1", true),
            ("1.2.3.4", "1.2.3.4", true), ("1.2.3.4", "1.2.3.5", false), ("0.0.0.0/0", "9.9.9.9", true),
            ("0.0.0.0/0", "2001:db8::1", false), ("::/0", "9.9.9.9", true), ("2001:db8::/32", "2001:db8:1::", true),
            ("2001:db8::/32", "2001:db9::", false),
            // A local NAT64 prefix with the lengths 48, 56, 64 and 96 (RFC 6052 §2.2).
            ("127.0.0.0/8", "64:ff9b:1:7f00:0:100::", true), ("127.0.0.0/8", "64:ff9b:1:7f:0:1::", true),
            ("127.0.0.0/8", "64:ff9b:1:0:7f:0:100:0", true), ("127.0.0.0/8", "64:ff9b:1::7f00:1", true),
            ("127.0.0.0/8", "64:ff9b:1:0808:0:0808::", false),
        ])
    func ranges(_ range: String, _ address: String, _ isInside: Bool) throws {
        let policy = AddressPolicy(denied: [try #require(AddressRange(range))])
        #expect(policy.allows(address) != isInside)
    }

    @Test(
        "invalid ranges are rejected",
        arguments: ["", "a", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0/8", "::/129", "1.2.3.4/"])
    func malformed(_ text: String) { #expect(AddressRange(text) == nil) }

    @Test("a socket without a readable address is denied if the policy denies any")
    func unknown() {
        #expect(AddressPolicy().allows("what"))
        #expect(!AddressPolicy.denyPrivate.allows("what"))
    }

    @Test("addresses are printed in their usual form", arguments: ["10.0.0.1", "2001:db8::1", "::1"])
    func text(_ address: String) throws {
        #expect(AddressRange.text(of: try #require(AddressRange.bits(of: address))) == address)
    }
}
