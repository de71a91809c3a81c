extension WebVTTSample {
    /// A sample of a `wvtt` track that shows `cues`, which may be empty; see ``init(parsing:start:end:)``.
    ///
    /// Source: ISO/IEC 14496-30 §7.5.
    package static func bytes(of cues: [(identifier: String, settings: WebVTTCueSettings, payload: String)]) -> [UInt8]
    {
        guard !cues.isEmpty else { return box("vtte", []) }
        return cues.flatMap { cue in
            var parts: [UInt8] = []
            if !cue.identifier.isEmpty { parts += box("iden", Array(cue.identifier.utf8)) }
            let settings = cue.settings.text
            if !settings.isEmpty { parts += box("sttg", Array(settings.utf8)) }
            return box("vttc", parts + box("payl", Array(cue.payload.utf8)))
        }
    }

    private static func box(_ type: String, _ payload: [UInt8]) -> [UInt8] {
        let count = UInt32(truncatingIfNeeded: payload.count + 8)
        return (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) } + Array(type.utf8) + payload
    }
}

extension WebVTTCueSettings {
    package var text: String {
        var parts: [String] = []
        func add(_ name: String, _ value: String?, _ side: String? = nil) {
            if let value { parts.append("\(name):\(value)" + (side.map { "," + $0 } ?? "")) }
        }
        add("region", region)
        add("vertical", vertical?.rawValue)
        switch line {
        case .number(let number): add("line", Self.text(number), lineAlignment?.rawValue)
        case .percentage(let number): add("line", Self.text(number) + "%", lineAlignment?.rawValue)
        case nil: break
        }
        add("position", position.map { Self.text($0) + "%" }, positionAlignment?.rawValue)
        add("size", size.map { Self.text($0) + "%" })
        add("align", alignment?.rawValue)
        return parts.joined(separator: " ")
    }

    /// Rounded to a thousandth, without an exponent.
    private static func text(_ number: Double) -> String {
        guard number.isFinite else { return "0" }
        let thousandths = Int((min(max(number, -1_000_000), 1_000_000) * 1000).rounded())
        return thousandths % 1000 == 0 ? String(thousandths / 1000) : String(Double(thousandths) / 1000)
    }
}
