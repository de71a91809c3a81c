/// Interprets a transport stream's packets.
struct TransportStreamCore: Sendable {
    var sink = EventSink()
    private let wantedProgram: Int?
    private var known = TransportStreamTables()
    private var associationSections = ProgramAssociationSections()
    /// The number of times the program association table was read while no program was chosen.
    private var associationCount = 0
    private var tables: [Table] = [Table(pid: 0)]
    private var streams: [PacketizedStream] = []
    /// The use of each of the 8192 PIDs: 0 for none, a stream's index plus one, or one of the values below.
    private var slots = [UInt8](repeating: 0, count: 8192)
    private var spliceStreams: [Int: SectionAssembler] = [:]
    private var untimedSplices: [[UInt8]] = []
    private var lastSplice: EventMessage?
    private var unwrapper = TimestampUnwrapper()
    private var notedPIDs: Set<Int> = []
    private var early = EarlyPackets()
    private var earlyPIDs: Set<Int> = []
    private var hadStreams = false
    private(set) var rest: TransportStreamRest?
    private let leavesRest: Bool

    private static let tableSlot: UInt8 = 255
    private static let spliceSlot: UInt8 = 254
    private static let maxUntimedSpliceCount = 64
    /// The largest number of streams in one program. Others are ignored.
    private static let maxStreamCount = 64
    private static let maxProgramCount = 64

    private struct Table {
        var pid: Int
        var assembler = SectionAssembler()
        var lastSection: [UInt8] = []
        var isIntact = false
    }

    init(wantedProgram: Int?, continuing rest: TransportStreamRest? = nil, leavesRest: Bool = false) {
        self.wantedProgram = wantedProgram
        self.rest = rest
        self.leavesRest = leavesRest
        unwrapper = rest?.unwrapper ?? TimestampUnwrapper()
        slots[0] = Self.tableSlot
        if let tables = rest?.tables, let association = tables.association, let map = tables.map {
            known = tables
            makeTables(for: association)
            apply(map)
        }
    }

    var hasProgram: Bool { !known.maps.isEmpty }

    /// The streams that prevent a program from being read if none of it can be read, or nil otherwise.
    var unreadable: String? {
        guard !hadStreams, !known.maps.isEmpty else { return nil }
        let names = known.maps.sorted { $0.key < $1.key }.flatMap(\.value.streams).compactMap { stream -> String? in
            guard case .unknown(let name) = stream.content else { return nil }
            return "\(name) (stream type 0x\(String(stream.type, radix: 16)))"
        }
        var shown: [String] = []
        for name in names where !shown.contains(name) && shown.count < 4 { shown.append(name) }
        return shown.isEmpty ? "no video and no audio" : shown.joined(separator: ", ")
    }

    mutating func noteSkipped(_ range: Range<Int>) {
        sink.note("byte \(range.lowerBound): \(range.count) bytes are not transport stream packets")
    }

    /// - Parameter offset: The offset of the packet's sync byte in the segment.
    mutating func process(_ bytes: Span<UInt8>, at offset: Int) {
        let packet = TransportPacket(bytes)
        let slot = slots[packet.pid]
        guard slot != 0 else {
            // Lower PIDs belong to tables of other kinds.
            if known.program == nil, packet.pid > 0x1f, packet.pid != TransportPacket.nullPID {
                early.append(bytes, at: offset)
                if earlyPIDs.insert(packet.pid).inserted, known.association != nil {
                    chooseProgram(isEnd: false)
                    if known.program != nil { processEarly() }
                }
            }
            return
        }
        guard !packet.hasError && !packet.isMalformed else {
            noteOnce(packet.pid, "byte \(offset): packet of PID \(packet.pid) is damaged")
            return
        }
        guard slot != Self.tableSlot else {
            processTable(packet, bytes)
            if known.program != nil, !early.isEmpty { processEarly() }
            return
        }
        if packet.isScrambled { noteOnce(packet.pid, "PID \(packet.pid) is scrambled") }
        guard slot != Self.spliceSlot else {
            processSplices(packet, bytes)
            return
        }
        streams[Int(slot) - 1].process(packet, bytes, unwrapper: &unwrapper, sink: &sink)
        if !untimedSplices.isEmpty { emitSplices() }
    }

    private mutating func processEarly() {
        var packets = EarlyPackets()
        swap(&packets, &early)
        if packets.lostCount > 0 { sink.note("\(packets.lostCount) packets before the tables were skipped") }
        let bytes = packets.bytes.span
        for (index, offset) in packets.offsets.enumerated() {
            let start = index * TransportPacket.byteCount
            process(bytes.extracting(start..<start + TransportPacket.byteCount), at: offset)
        }
    }

    mutating func finish(divided: TransportPacketReader.Divided?) {
        let isTruncated = divided != nil
        chooseProgram(isEnd: true)
        if known.program != nil { processEarly() }
        if known.program == nil { noteUnread() }
        if leavesRest {
            let left = streams.indices.filter { streams[$0].endSegment(isTruncated: isTruncated, sink: &sink) }
            rest = TransportStreamRest(
                left.map { streams[$0] }, unwrapper: unwrapper, tables: known, divided: divided)
        } else {
            rest = nil
            for index in streams.indices { streams[index].finish(isTruncated: isTruncated, sink: &sink) }
        }
        if !untimedSplices.isEmpty {
            sink.note("\(untimedSplices.count) sections of splice information without a timestamp were skipped")
        }
        sink.announce()
    }

    private mutating func noteOnce(_ pid: Int, _ text: @autoclosure () -> String) {
        if notedPIDs.insert(pid).inserted { sink.note(text()) }
    }

    // MARK: Tables

    private mutating func processTable(_ packet: TransportPacket, _ bytes: Span<UInt8>) {
        guard let index = tables.firstIndex(where: { $0.pid == packet.pid }) else { return }
        for section in tables[index].assembler.append(packet, bytes) { process(section, table: packet.pid) }
    }

    private mutating func process(_ section: [UInt8], table pid: Int) {
        guard let index = tables.firstIndex(where: { $0.pid == pid }) else { return }
        let isSameAsLast = section == tables[index].lastSection
        let isIntact = isSameAsLast ? tables[index].isIntact : SectionAssembler.checksum(section) == 0
        if !isIntact, !isSameAsLast {
            sink.note("PID \(pid): wrong checksum of the program table")
            // Some encoders never write a valid checksum, so such a table is better than none.
            if tables[index].isIntact { return }
        }
        if pid == 0 {
            guard let part = ProgramAssociationTable(section: section) else { return }
            tables[index].lastSection = section
            tables[index].isIntact = isIntact
            guard let table = associationSections.append(part, from: section) else { return }
            if table != known.association {
                apply(table)
            } else if section[6] == 0 {
                countAssociation()
            }
        } else {
            guard let table = ProgramMapTable(section: section),
                known.association?.programs.contains(.init(number: table.programNumber, mapPID: pid)) ?? false
            else { return }
            // One PID may carry the maps of several programs in turn.
            tables[index].isIntact = isIntact
            guard known.maps[table.programNumber] != table else { return }
            known.maps[table.programNumber] = table
            if known.program == table.programNumber { apply(table) } else { chooseProgram(isEnd: false) }
        }
    }

    private mutating func countAssociation() {
        guard known.program == nil else { return }
        associationCount += 1
        chooseProgram(isEnd: false)
    }

    private mutating func apply(_ table: ProgramAssociationTable) {
        associationCount = 1
        known.association = table
        makeTables(for: table)
        let programs = table.programs.prefix(Self.maxProgramCount)
        if programs.count < table.programs.count { sink.note("more than \(Self.maxProgramCount) programs") }
        known.maps = known.maps.filter { number, _ in programs.contains { $0.number == number } }
        if let program = known.program, known.maps[program] == nil {
            sink.note("program \(program) has ended")
            known.program = nil
            spliceStreams = [:]
            replaceStreams([])
        } else {
            assignSlots()
        }
        chooseProgram(isEnd: false)
    }

    private mutating func makeTables(for table: ProgramAssociationTable) {
        let programs = table.programs.prefix(Self.maxProgramCount)
        var kept = tables.filter { $0.pid == 0 }
        for program in programs where !kept.contains(where: { $0.pid == program.mapPID }) {
            kept.append(tables.first { $0.pid == program.mapPID } ?? Table(pid: program.mapPID))
        }
        tables = kept
    }

    /// Chooses the first program with media if the choice is certain. If there are several, it chooses one with
    /// packets, because tables may list programs that are not transmitted.
    private mutating func chooseProgram(isEnd: Bool) {
        guard known.program == nil, let association = known.association else { return }
        // After the table has appeared three times, a whole cycle has passed, so missing tables will not arrive.
        let isCertain = isEnd || associationCount > 2
        var silent: Int?
        for candidate in association.programs where wantedProgram == nil || candidate.number == wantedProgram {
            guard let map = known.maps[candidate.number] else {
                if isCertain { continue }
                return
            }
            let media = map.streams.filter(\.isMedia)
            guard !media.isEmpty || wantedProgram != nil else { continue }
            let isAlone = wantedProgram != nil || association.programs.count == 1
            guard isAlone || media.contains(where: { earlyPIDs.contains($0.pid) }) else {
                silent = silent ?? candidate.number
                if isCertain { continue }
                return
            }
            return take(candidate.number)
        }
        if let silent { take(silent) }
    }

    private mutating func take(_ program: Int) {
        known.program = program
        if let map = known.maps[program] { apply(map) }
    }

    private mutating func noteUnread() {
        for (_, map) in known.maps.sorted(by: { $0.key < $1.key }) { noteUnknown(in: map) }
    }

    private mutating func noteUnknown(in map: ProgramMapTable) {
        for stream in map.streams.prefix(Self.maxStreamCount) {
            guard case .unknown(let name) = stream.content else { continue }
            let type = String(stream.type, radix: 16)
            if let kind = stream.unreadKind, !notedPIDs.contains(stream.pid) { sink.omit(kind, name: name) }
            noteOnce(stream.pid, "PID \(stream.pid) is skipped: \(name) (stream type 0x\(type))")
        }
    }

    private mutating func apply(_ map: ProgramMapTable) {
        noteUnknown(in: map)
        var described: [PacketizedStream] = []
        var spliceStreams: [Int: SectionAssembler] = [:]
        for stream in map.streams.prefix(Self.maxStreamCount) {
            if stream.content == .spliceInformation {
                spliceStreams[stream.pid] = self.spliceStreams[stream.pid] ?? SectionAssembler()
            } else if let made = PacketizedStream(stream) {
                described.append(made)
            }
        }
        if map.streams.count > Self.maxStreamCount { sink.note("more than \(Self.maxStreamCount) streams") }
        self.spliceStreams = spliceStreams
        replaceStreams(described)
    }

    private mutating func replaceStreams(_ described: [PacketizedStream]) {
        var next: [PacketizedStream] = []
        for new in described {
            if let index = streams.firstIndex(where: { $0.isSame(as: new) }) {
                next.append(streams.remove(at: index))
            } else {
                next.append(rest?.takeStream(like: new) ?? new)
            }
        }
        // Data that began in the previous segment but does not continue in this one is useless.
        for index in streams.indices where !streams[index].isResumed {
            streams[index].finish(isTruncated: false, sink: &sink)
        }
        streams = next
        if !next.isEmpty { hadStreams = true }
        sink.replaceTracks(streams.map(\.track))
        assignSlots()
    }

    private mutating func assignSlots() {
        for pid in slots.indices { slots[pid] = 0 }
        for table in tables { slots[table.pid] = Self.tableSlot }
        for (index, stream) in streams.enumerated() where slots[stream.pid] == 0 {
            slots[stream.pid] = UInt8(index + 1)
        }
        for pid in spliceStreams.keys where slots[pid] == 0 { slots[pid] = Self.spliceSlot }
    }

    // MARK: Splice information

    private mutating func processSplices(_ packet: TransportPacket, _ bytes: Span<UInt8>) {
        // The rest of a packet may contain other tables.
        for section in spliceStreams[packet.pid]?.append(packet, bytes) ?? [] where section[0] == 0xfc {
            guard SectionAssembler.checksum(section) == 0 else {
                noteOnce(packet.pid, "PID \(packet.pid): wrong checksum of splice information")
                continue
            }
            guard untimedSplices.count < Self.maxUntimedSpliceCount else { return }
            untimedSplices.append(section)
        }
        emitSplices()
    }

    /// Emits the sections at the time of the media because they have no own time. Their reader calculates the splice
    /// time.
    private mutating func emitSplices() {
        guard let time = unwrapper.last else { return }
        for section in untimedSplices {
            let message = EventMessage(
                schemeIDURI: "urn:scte:scte35:2013:bin", timescale: 90_000,
                timing: .presentationTime(UInt64(time & ((1 << 33) - 1))), messageData: section, wrapsAt33Bits: true)
            // Packets may be repeated.
            guard message != lastSplice else { continue }
            lastSplice = message
            sink.emit(message)
        }
        untimedSplices = []
    }
}

extension ProgramMapTable.Stream {
    fileprivate var isMedia: Bool {
        switch content {
        case .video, .olderVideo, .opus: true
        case .frames(let framing): framing != .id3
        case .spliceInformation, .unknown: false
        }
    }
}
