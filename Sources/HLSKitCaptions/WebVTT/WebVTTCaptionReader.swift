package import HLSKitMedia
package import HLSKitTime

/// The context of a WebVTT file outside its cues, and cues as captions in that context.
package struct WebVTTCaptions: Sendable {
    /// Further regions are ignored.
    private static let maxRegionCount = 1024

    private var sheet = CueStyleSheet()
    private var regions: [String: CaptionRegion] = [:]

    private var hasBlocks = false

    package init() {}

    package mutating func add(_ block: WebVTTBlock) {
        if block.kind != .note { hasBlocks = true }
        switch block.kind {
        case .style: sheet.add(block.text)
        case .region:
            guard let region = CuePlacement.region(parsing: block.text), let name = region.identifier,
                regions.count < Self.maxRegionCount
            else { return }
            regions[name] = region
        case .note: break
        }
    }

    /// Whether there is no style sheet or region, so that cues have only their own appearance.
    package var isEmpty: Bool { !hasBlocks }

    /// Converts a caption to a cue without times. Properties that WebVTT cannot express are omitted.
    package static func cue(of caption: Caption) -> WebVTTCue {
        let (settings, payload) = WebVTTCaptionWriter.cue(of: caption)
        return WebVTTCue(
            identifier: caption.identifier, start: .zero, end: .zero,
            settings: WebVTTCueSettings(parsing: settings[...]), payload: payload)
    }

    package func caption(_ cue: WebVTTCue, timeRange: MediaTimeRange) -> Caption {
        var caption = Caption(
            "", timeRange: timeRange, region: CuePlacement.region(of: cue.settings, regions: regions),
            textAlignment: CuePlacement.alignment(of: cue.settings), identifier: cue.identifier)
        caption.setPieces(CueMarkup.pieces(of: cue.payload, sheet: sheet, identifier: cue.identifier))
        return caption
    }
}

/// Reads `.vtt`. Times refer to the file's own clock because a map to media timestamps has no meaning for a separate
/// file.
enum WebVTTCaptionReader {
    static func read(_ bytes: [UInt8]) throws(CaptionError) -> CaptionFileReader.Content {
        // WebVTT allows only UTF-8, but text that begins like UTF-16 is accepted.
        let isWide = bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff])
        var events: [WebVTTEvent] = []
        var parser = WebVTTParser()
        do throws(MediaError) {
            try parser.append(isWide ? Array(TextDecoding.text(of: bytes).text.utf8)[...] : bytes[...], to: &events)
            try parser.finish(to: &events)
        } catch {
            throw CaptionError(code: .notThisFormat, line: 1, text: error.text)
        }
        var styles = WebVTTCaptions()
        var captions: [Caption] = []
        var notes = NoteList()
        if isWide { notes.add("UTF-16; WebVTT is UTF-8") }
        for event in events {
            switch event {
            case .timestampMap: break
            case .block(let block): styles.add(block)
            case .note(let text): notes.add(text)
            case .cue(let cue):
                captions.append(
                    styles.caption(
                        cue,
                        timeRange: MediaTimeRange(
                            start: MediaTime(cue.start, timescale: 1000), end: MediaTime(cue.end, timescale: 1000))))
            }
        }
        return CaptionFileReader.Content(captions: captions, notes: notes.notes)
    }
}
