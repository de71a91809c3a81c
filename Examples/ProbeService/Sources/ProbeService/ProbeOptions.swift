import HLSKitCore

struct ProbeOptions: Sendable, Equatable {
    struct Mistake: Error, CustomStringConvertible {
        var description: String
    }

    static let usage = """
        usage: ProbeService [options]
          --address A           where it listens (127.0.0.1)
          --port N              the port (8080)
          --deadline SECONDS    how long a probe may take, 1 to 300 (15)
          --at-once N           probes at the same time; more are refused, 1 to 1000 (16)
          --allow-host H        a host that may be probed, or *.example.com; may be repeated. Without it: all
          --allow-private       addresses of private networks and of this machine, too
        """

    var address = "127.0.0.1"
    var port = 8080
    var deadline = Duration.seconds(15)
    var maximumCount = 16
    var hosts = HostList()
    var allowsPrivateAddresses = false

    init(_ arguments: [String] = []) throws {
        var rest = arguments[...]
        func value(_ option: String) throws -> String {
            guard let value = rest.popFirst() else { throw Mistake(description: "\(option) wants a value") }
            return value
        }
        func number(_ option: String, in range: ClosedRange<Int>) throws -> Int {
            guard let number = Int(try value(option)), range.contains(number) else {
                throw Mistake(description: "\(option) wants a number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--address": address = try value(argument)
            case "--port": port = try number(argument, in: 0...65_535)
            case "--deadline": deadline = .seconds(try number(argument, in: 1...300))
            case "--at-once": maximumCount = try number(argument, in: 1...1000)
            case "--allow-host": hosts.patterns.append(try value(argument).lowercased())
            case "--allow-private": allowsPrivateAddresses = true
            default: throw Mistake(description: "unknown option \(argument)\n\(Self.usage)")
            }
        }
    }

    /// Creates the transport for all probes.
    ///
    /// A probe must not reach hosts that only this machine can reach. Host names do not reveal that: `example.com` may
    /// resolve to 10.0.0.1, and a redirect or a playlist may lead there. Therefore the address of each socket is
    /// checked before it connects (`AddressPolicy.denyPrivate`). No proxy is used, because it would hide addresses.
    /// `GuardedTransport` checks the scheme and host of each request.
    func makeTransport() -> any ResourceTransport {
        let policy = allowsPrivateAddresses ? AddressPolicy() : .denyPrivate
        return GuardedTransport(
            base: CurlTransport(
                configuration: TransportConfiguration(userAgent: "ProbeService", proxy: .none, addressPolicy: policy)),
            hosts: hosts)
    }
}

/// The hosts that the service may contact. An empty list allows all hosts.
struct HostList: Sendable, Equatable {
    /// `example.com`, or `*.example.com` for all hosts below it.
    var patterns: [String] = []

    func allows(_ host: String) -> Bool {
        let host = host.lowercased()
        return patterns.isEmpty
            || patterns.contains { $0.hasPrefix("*.") ? host.hasSuffix($0.dropFirst()) : host == $0 }
    }
}
