import HLSKitCore
import HLSKitPlaylist

extension LowLatencyOrigin {
    // MARK: Directives

    private struct Directives {
        var mediaSequence: Int?
        var part: Int?
        var skips = false

        init(_ query: String) {
            for pair in query.split(separator: "&") {
                let name = pair.prefix { $0 != "=" }
                let value = pair.dropFirst(name.count + 1)
                switch name {
                case "_HLS_msn": mediaSequence = Int(value)
                case "_HLS_part": part = Int(value)
                case "_HLS_skip": skips = value == "YES" || value == "v2"
                default: break
                }
            }
        }
    }

    /// The largest number of parts by which a request may exceed the available ones (rfc8216bis §6.2.5.2).
    private var advancePartLimit: Int {
        let seconds = partTarget / .seconds(1)
        return seconds < 1 ? Int((3 / seconds).rounded(.down)) : 3
    }

    /// The time after which a blocking request gets an error.
    private var longestHold: Duration { .seconds(targetDuration) * 3 }

    func playlist(of variant: Int, query: String, at time: Duration) -> SimulatedResponse {
        if let response = fault(at: time, of: variant, \.status) { return response }
        let plainLifetime = query.isEmpty ? fault(at: time, of: variant, \.plainCacheLifetime) : nil
        if let lifetime = fault(at: time, of: variant, \.cacheLifetime) ?? plainLifetime, lifetime > .zero {
            let stored = lifetime * Int(time / lifetime)
            var response = SimulatedResponse.playlist(text(of: variant, skips: false, at: stored))
            response.fields.append(TransportField(name: "Age", value: String(Int((time - stored) / .seconds(1)))))
            return response
        }
        let directives = Directives(query)
        if directives.part != nil, directives.mediaSequence == nil { return .status(400) }
        guard holdsRequests, let number = directives.mediaSequence, !listing(of: variant, at: time).hasEnded else {
            return .playlist(text(of: variant, skips: directives.skips, at: time))
        }
        return heldPlaylist(of: variant, number, directives, at: time)
    }

    private func heldPlaylist(
        of variant: Int, _ number: Int, _ directives: Directives, at time: Duration
    ) -> SimulatedResponse {
        let now = listing(of: variant, at: time)
        let segment = number - numbering(at: time)
        guard segment <= now.segments.upperBound + 1 else { return .status(400) }
        var awaited = partRange(ofSegment: segment).upperBound - 1
        if let part = directives.part {
            let listed = listedParts(ofSegment: segment, of: variant)
            awaited = part < listed.count ? listed.lowerBound + part : partRange(ofSegment: segment).upperBound
            guard awaited - (now.partEnd - 1) <= advancePartLimit else { return .status(400) }
        }
        let isThere = directives.part == nil ? segment < now.segments.upperBound : awaited < now.partEnd
        if isThere || has(.doesNotHold, at: time, of: variant) {
            return .playlist(text(of: variant, skips: directives.skips, at: time))
        }
        if has(.neverAnswers, at: time, of: variant) { return .silence }
        // The end of the stream also ends a blocking request.
        if let segmentCount { awaited = min(awaited, segmentCount * partsPerSegment - 1) }
        let moment = timeline.completion(ofPart: awaited) + lag(of: variant)
        let never = stop(of: variant).map { moment - lag(of: variant) > $0 } ?? false
        if never || moment - time > longestHold, !has(.holdsForever, at: time, of: variant) {
            var response = SimulatedResponse.status(503)
            response.delay = longestHold
            return response
        }
        if never { return .silence }
        var response = SimulatedResponse.playlist(text(of: variant, skips: directives.skips, at: moment))
        response.delay = moment - time
        return response
    }

    // MARK: Numbers

    /// The difference between a segment's number and its index in the stream.
    private func numbering(at time: Duration) -> Int {
        firstMediaSequence + (fault(at: time, of: 0, \.renumbering) ?? 0)
    }

    func index(ofSegment number: Int, at time: Duration) -> Int? {
        let index = number - numbering(at: time)
        return index >= 0 ? index : nil
    }

    // MARK: Text

    private func text(of variant: Int, skips: Bool, at time: Duration) -> String {
        let listing = listing(of: variant, at: time)
        let skipped = skips && offersDeltaUpdates && !listing.hasEnded ? skippedCount(listing) : 0
        let shift = skipped > 0 ? fault(at: time, of: variant, \.skipShift) ?? 0 : 0
        let first = listing.segments.lowerBound
        var lines = header(of: variant, at: time)
        lines.append("#EXT-X-MEDIA-SEQUENCE:\(first + shift + numbering(at: time))")
        lines.append("#EXT-X-INDEPENDENT-SEGMENTS")
        if skipped > 0 {
            let excess = fault(at: time, of: variant, \.excessSkip) ?? 0
            lines.append("#EXT-X-SKIP:SKIPPED-SEGMENTS=\(skipped + excess)")
        } else {
            lines.append("#EXT-X-MAP:URI=\"../\(isAudio(variant) ? "audio" : "init").mp4\"")
        }
        for segment in first + skipped..<listing.segments.upperBound {
            lines.append(dateLine(ofPart: partRange(ofSegment: segment).lowerBound))
            if listsParts, listing.segments.upperBound - segment <= partSegmentCount {
                lines += partLines(listedParts(ofSegment: segment, of: variant), of: variant, at: time)
            }
            lines.append("#EXTINF:\(Self.decimal(segmentDuration)),")
            lines.append("\(segment + numbering(at: time)).m4s")
        }
        if listing.hasEnded { return (lines + ["#EXT-X-ENDLIST"]).joined(separator: "\n") + "\n" }
        if listsParts { lines += edge(listing, of: variant, at: time) }
        if !has(.omitsReports, at: time, of: variant) { lines += reports(except: variant, at: time) }
        return lines.joined(separator: "\n") + "\n"
    }

    private func header(of variant: Int, at time: Duration) -> [String] {
        var control: [String] = []
        if holdsRequests { control.append("CAN-BLOCK-RELOAD=YES") }
        if offersDeltaUpdates { control.append("CAN-SKIP-UNTIL=\(targetDuration * 6)") }
        if listsParts { control.append("PART-HOLD-BACK=\(Self.decimal(partHoldBack ?? partTarget * 3))") }
        var lines = ["#EXTM3U", "#EXT-X-VERSION:9", "#EXT-X-TARGETDURATION:\(targetDuration)"]
        if !control.isEmpty { lines.append("#EXT-X-SERVER-CONTROL:" + control.joined(separator: ",")) }
        if listsParts {
            let isUnderstated = has(.understatesPartTarget, at: time, of: variant)
            lines.append("#EXT-X-PART-INF:PART-TARGET=\(Self.decimal(isUnderstated ? partTarget * 2 / 3 : partTarget))")
        }
        return lines
    }

    /// The lines of the segment in progress and of the hints after it.
    private func edge(_ listing: Listing, of variant: Int, at time: Duration) -> [String] {
        let start = partRange(ofSegment: listing.segments.upperBound).lowerBound
        var lines: [String] = []
        if listing.partEnd > start {
            lines.append(dateLine(ofPart: start))
            lines += partLines(start..<listing.partEnd, of: variant, at: time)
        }
        let next = listing.partEnd
        let isWithdrawn = fault(at: time, of: variant, \.hint) == .withdrawn
        let name = partName(next, at: time)
        var hint = "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"\(isWithdrawn ? Self.plan : "")\(name)\""
        let place = next % partsPerSegment
        if addressing == .ranges, place > 0 { hint += ",BYTERANGE-START=\(place * byteCount(ofPartOf: variant))" }
        return givesHints ? lines + [hint] : lines
    }

    private func partName(_ part: Int, at time: Duration) -> String {
        let (segment, place) = part.quotientAndRemainder(dividingBy: partsPerSegment)
        let number = segment + numbering(at: time)
        return addressing == .files ? "\(number).\(place).m4s" : "\(number).m4s"
    }

    private func partLines(_ parts: Range<Int>, of variant: Int, at time: Duration) -> [String] {
        let size = addressing == .ranges ? byteCount(ofPartOf: variant) : 0
        let hidesIndependence = has(.hidesIndependence, at: time, of: variant)
        return parts.map { part in
            var line = "#EXT-X-PART:DURATION=\(Self.decimal(partDuration)),URI=\"\(partName(part, at: time))\""
            if addressing == .ranges { line += ",BYTERANGE=\"\(size)@\(part % partsPerSegment * size)\"" }
            if part % max(1, independentInterval) == 0, !hidesIndependence { line += ",INDEPENDENT=YES" }
            return line
        }
    }

    /// The number of segments whose parts are still listed: the last three target durations.
    private var partSegmentCount: Int { Int((.seconds(targetDuration) * 3 / segmentDuration).rounded(.up)) }

    private func skippedCount(_ listing: Listing) -> Int {
        let kept = Int((.seconds(targetDuration) * 6 / segmentDuration).rounded(.up))
        return max(0, listing.segments.count - kept)
    }

    private func dateLine(ofPart part: Int) -> String { "#EXT-X-PROGRAM-DATE-TIME:\(timeline.date(ofPart: part))" }

    private func reports(except variant: Int, at time: Duration) -> [String] {
        let lead = fault(at: time, of: variant, \.reportLead) ?? 0
        return renditions.filter { $0 != variant }.map { other in
            let listing = listing(of: other, at: time)
            let (segment, place) = max(0, listing.partEnd - 1).quotientAndRemainder(dividingBy: partsPerSegment)
            // If the segment is complete, report its last listed part.
            let part = min(place, listedParts(ofSegment: segment, of: other).count - 1)
            let line =
                "#EXT-X-RENDITION-REPORT:URI=\"../\(other)/live.m3u8\",LAST-MSN=\(segment + lead + numbering(at: time))"
            return listsParts ? line + ",LAST-PART=\(part)" : line
        }
    }

    /// Seconds, to the microsecond.
    private static func decimal(_ duration: Duration) -> String {
        let microseconds = Int((duration / .microseconds(1)).rounded())
        return "\(microseconds / 1_000_000).\((microseconds % 1_000_000).decimals(6, atLeast: 1))"
    }
}
