import HLSKitCore

/// The schedule of bytes when several transfers share one link.
///
/// This is a value type without a clock. Its input is the start times of requests and the times at which bytes are
/// ready to be sent. It returns the next arrival and its time. Transfers share the link packet by packet in turn, and a
/// packet in progress is not overtaken. The next packet starts at the end of the previous one even if the caller is
/// late, so that delays do not accumulate.
struct SharedLink {
    typealias Milliseconds = NetworkTrace.Milliseconds

    /// Flows are ordered by the time at which they were opened.
    struct FlowID: Hashable, Comparable {
        fileprivate var number: UInt64
        static func < (left: FlowID, right: FlowID) -> Bool { left.number < right.number }
    }

    struct Delivery: Equatable {
        var flow: FlowID
        var time: Milliseconds
        /// The bytes of the flow's next item, or nil for an event without bytes and for the rest of an item.
        fileprivate var byteCount: Int?
    }

    private struct Item {
        var event: TransportEvent
        var arrivedAt: Milliseconds
        var sentByteCount = 0

        var remainingByteCount: Int? {
            guard case .data(let bytes) = event else { return nil }
            return bytes.count - sentByteCount
        }
    }

    private struct Flow {
        /// The end of the latency, of the pause or of the last packet. Nothing of the flow arrives earlier.
        var readyAt: Milliseconds
        var items: [Item] = []
        var firstItem = 0
        var isPaused = false
        /// The flow whose last turn is longest ago is next.
        var servedAt: UInt64 = 0
        var pendingByteCount = 0

        var next: Item? { firstItem < items.count ? items[firstItem] : nil }

        mutating func removeFirst() {
            firstItem += 1
            guard firstItem * 2 >= items.count else { return }
            items.removeFirst(firstItem)
            firstItem = 0
        }
    }

    struct Packets: Sendable {
        /// The size of a packet is the number of bits that pass in this time, …
        var duration: Milliseconds
        /// … but at least a TCP segment on Ethernet and at most the upper bound.
        var sizes: ClosedRange<Int>

        static let small = Packets(duration: 5, sizes: 1460...65_536)
        /// Few enough for a fast simulation, but enough to measure a link.
        static let large = Packets(duration: 50, sizes: 1460...1_048_576)
    }

    private let trace: NetworkTrace
    private let packets: Packets
    private var flows: [FlowID: Flow] = [:]
    private var counter: UInt64 = 0
    private var freeAt: Milliseconds = 0

    init(trace: NetworkTrace, packets: Packets = .small) {
        self.trace = trace
        self.packets = packets
    }

    /// Begins a request. Its first byte can arrive after the latency of `time`.
    mutating func open(at time: Milliseconds) -> FlowID {
        counter += 1
        let id = FlowID(number: counter)
        flows[id] = Flow(readyAt: time + trace.latency(at: time), servedAt: counter)
        return id
    }

    mutating func close(_ id: FlowID) { flows[id] = nil }

    /// Adds an `event` that the far end can send from `time` on.
    mutating func enqueue(_ event: TransportEvent, to id: FlowID, at time: Milliseconds) {
        let item = Item(event: event, arrivedAt: time)
        flows[id]?.pendingByteCount += item.remainingByteCount ?? 0
        flows[id]?.items.append(item)
    }

    func pendingByteCount(of id: FlowID) -> Int { flows[id]?.pendingByteCount ?? 0 }

    /// Pauses or resumes a flow. A paused flow leaves the link to the others.
    mutating func setPaused(_ isPaused: Bool, _ id: FlowID, at time: Milliseconds) {
        guard var flow = flows[id], flow.isPaused != isPaused else { return }
        flow.isPaused = isPaused
        if !isPaused { flow.readyAt = max(flow.readyAt, time) }
        flows[id] = flow
    }

    /// Returns the next arrival, or nil if nothing waits or ever arrives.
    func nextDelivery() -> Delivery? {
        var event: Delivery?
        var packet: (id: FlowID, start: Milliseconds, turn: UInt64, size: Int)?
        for (id, flow) in flows where !flow.isPaused {
            guard let item = flow.next else { continue }
            let ready = max(flow.readyAt, item.arrivedAt)
            guard let remaining = item.remainingByteCount, remaining > 0 else {
                // If events have the same time, the flow that was opened first wins because dictionaries have no order.
                if let other = event, (other.time, other.flow.number) <= (ready, id.number) { continue }
                event = Delivery(flow: id, time: ready, byteCount: item.remainingByteCount)
                continue
            }
            let start = max(freeAt, ready)
            if let other = packet, (other.start, other.turn) <= (start, flow.servedAt) { continue }
            packet = (id, start, flow.servedAt, min(remaining, packetSize(at: start)))
        }
        guard let packet else { return event }
        let time = trace.arrivalTime(ofBits: Double(packet.size) * 8, from: packet.start)
        if let event, event.time <= time { return event }
        return time.isFinite ? Delivery(flow: packet.id, time: time, byteCount: packet.size) : nil
    }

    mutating func take(_ delivery: Delivery) -> TransportEvent? {
        guard var flow = flows[delivery.flow], var item = flow.next else { return nil }
        defer { flows[delivery.flow] = flow }
        flow.readyAt = max(flow.readyAt, delivery.time)
        guard case .data(let bytes) = item.event, let count = delivery.byteCount, count > 0 else {
            flow.removeFirst()
            return item.event
        }
        counter += 1
        flow.servedAt = counter
        freeAt = max(freeAt, delivery.time)
        let end = min(bytes.count, item.sentByteCount + count)
        let piece = Array(bytes[item.sentByteCount..<end])
        flow.pendingByteCount -= piece.count
        item.sentByteCount = end
        if end == bytes.count { flow.removeFirst() } else { flow.items[flow.firstItem] = item }
        return .data(piece)
    }

    private func packetSize(at time: Milliseconds) -> Int {
        let bytes = trace.bitsPerSecond(at: time) / 8000 * packets.duration
        return Int(min(max(bytes, Double(packets.sizes.lowerBound)), Double(packets.sizes.upperBound)))
    }
}
