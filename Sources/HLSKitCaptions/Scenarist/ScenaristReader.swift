import HLSKitTime

/// Reads `.scc`.
///
/// A semicolon or point before the frames indicates drop-frame time codes. The reader returns the first channel with
/// captions. It ignores parity because many writers omit it.
enum ScenaristReader {
    static func read(_ bytes: [UInt8]) throws(CaptionError) -> CaptionFileReader.Content {
        let lines = TextDecoding.lines(of: TextDecoding.text(of: bytes).text)
        guard let head = lines.firstIndex(where: { !$0.trimmed.isEmpty }),
            lines[head].trimmed.starts(with: "Scenarist_SCC".unicodeScalars)
        else {
            throw CaptionError(code: .notThisFormat, line: 1, text: "it does not begin with Scenarist_SCC")
        }
        var notes = NoteList()
        var decoder = CEA608Decoder(field: 1, checksParity: false)
        var captions: [ClosedCaption] = []
        var last: (frame: Int64, rate: TimeCodeRate)?
        for (index, line) in lines.enumerated() where index > head {
            let line = line.trimmed
            guard !line.isEmpty else { continue }
            guard let (start, rate, words) = timeCode(of: line) else {
                notes.add("no time code", line: index + 1)
                continue
            }
            var frame = start
            if let last, rate.time(ofFrame: start) < last.rate.time(ofFrame: last.frame) {
                // Like an encoder, send the line after the previous one has been sent.
                if start + 300 < last.frame {
                    notes.add("a time before the previous line's time", line: index + 1)
                    continue
                }
                frame = last.frame
            }
            for word in words.split(whereSeparator: { $0.properties.isWhitespace }) {
                guard word.count == 4, let value = UInt16(String(word), radix: 16) else {
                    notes.add("a word that is not four digits", line: index + 1)
                    continue
                }
                decoder.decode(
                    UInt8(value >> 8), UInt8(value & 0xff), at: rate.time(ofFrame: frame), to: &captions)
                frame += 1
            }
            last = (frame, rate)
        }
        finish(&decoder, &captions, last.map { $0.rate.time(ofFrame: $0.frame) } ?? .zero)
        let service = captions.map(\.service).contains(.cc1) ? ClosedCaptionService.cc1 : .cc2
        if captions.contains(where: { $0.service != service }) {
            notes.add("captions of further channels are skipped")
        }
        return CaptionFileReader.Content(
            captions: captions.filter { $0.service == service }.map(\.caption), notes: notes.notes)
    }

    /// A caption that is displayed at the end of the file has no end.
    private static func finish(_ decoder: inout CEA608Decoder, _ captions: inout [ClosedCaption], _ end: MediaTime) {
        let count = captions.count
        decoder.finish(at: end + MediaTime(value: 1, timescale: 1), to: &captions)
        for index in count..<captions.count { captions[index].caption.timeRange.duration = .positiveInfinity }
    }

    private static func timeCode(
        of line: Substring.UnicodeScalarView
    ) -> (frame: Int64, rate: TimeCodeRate, words: Substring.UnicodeScalarView)? {
        let end = line.firstIndex { $0.properties.isWhitespace } ?? line.endIndex
        let code = line[..<end]
        let parts = code.split(omittingEmptySubsequences: false) { $0 == ":" || $0 == ";" || $0 == "." || $0 == "," }
        let numbers = parts.compactMap { part in
            part.count <= 3 && part.allSatisfy { $0.isDigit } ? Int(String(part)) : nil
        }
        guard parts.count == 4, numbers.count == 4, numbers[1] < 60, numbers[2] < 60, numbers[3] < 30 else {
            return nil
        }
        let isDropFrame = code.contains { $0 == ";" || $0 == "." || $0 == "," }
        let rate = isDropFrame ? TimeCodeRate.ntscDropFrame : .ntsc
        return (
            rate.frame(hours: numbers[0], minutes: numbers[1], seconds: numbers[2], frames: numbers[3]), rate,
            line[end...]
        )
    }
}
