package import HLSKitMedia
package import HLSKitTime

/// Decodes the packets of digital television's caption channel into the captions of each service.
///
/// An incomplete packet is skipped and its contents are lost.
///
/// Source: ANSI/CTA-708-E §5 (caption channel packets), §6 (service blocks).
package struct CEA708Decoder: Sendable {
    private var packet: [UInt8] = []
    /// The services by number, 1 to 63.
    private var services: [Int: CEA708Service] = [:]

    package init() {}

    /// Decodes two bytes of the channel that were sent at `time`.
    ///
    /// - Parameter isStart: Whether they begin a packet.
    package mutating func decode(
        _ first: UInt8, _ second: UInt8, isStart: Bool, at time: MediaTime, to captions: inout [ClosedCaption]
    ) {
        if isStart {
            packet = []
        } else if packet.isEmpty {
            return
        }
        packet.append(first)
        packet.append(second)
        let code = Int((packet.first ?? 0) & 0x3f)
        let size = code == 0 ? 128 : code * 2
        guard packet.count >= size else { return }
        let whole = packet[1..<size]
        packet = []
        decode(packet: whole, at: time, to: &captions)
    }

    package mutating func finish(at time: MediaTime, to captions: inout [ClosedCaption]) {
        for number in services.keys.sorted() {
            var found: [Caption] = []
            services[number]?.finish(at: time, to: &found)
            captions += found.map { ClosedCaption(service: .service(number), caption: $0) }
        }
    }

    private mutating func decode(
        packet: ArraySlice<UInt8>, at time: MediaTime, to captions: inout [ClosedCaption]
    ) {
        var rest = packet
        while let header = rest.popFirst() {
            var number = Int(header >> 5)
            let size = Int(header & 0x1f)
            if number == 7, size > 0 {
                guard let more = rest.popFirst() else { return }
                number = Int(more & 0x3f)
            }
            guard number > 0 else { return }
            guard size <= rest.count else { return }
            var found: [Caption] = []
            services[number, default: CEA708Service()].decode(rest.prefix(size), at: time, to: &found)
            rest = rest.dropFirst(size)
            captions += found.map { ClosedCaption(service: .service(number), caption: $0) }
        }
    }
}

/// Decodes all captions that video carries: CEA-608 of both fields and CEA-708.
package struct ClosedCaptionDecoder: Sendable {
    private var field1 = CEA608Decoder(field: 1)
    private var field2 = CEA608Decoder(field: 2)
    private var digital = CEA708Decoder()

    package init() {}

    /// Decodes the captions of a picture that is presented at `time`. Times must not decrease.
    package mutating func decode(_ data: ClosedCaptionData, at time: MediaTime, to captions: inout [ClosedCaption]) {
        for pair in data.pairs {
            switch pair.kind {
            case .field1: field1.decode(pair.first, pair.second, at: time, to: &captions)
            case .field2: field2.decode(pair.first, pair.second, at: time, to: &captions)
            case .packetStart, .packetData:
                digital.decode(
                    pair.first, pair.second, isStart: pair.kind == .packetStart, at: time, to: &captions)
            }
        }
    }

    package mutating func finish(at time: MediaTime, to captions: inout [ClosedCaption]) {
        field1.finish(at: time, to: &captions)
        field2.finish(at: time, to: &captions)
        digital.finish(at: time, to: &captions)
    }
}
