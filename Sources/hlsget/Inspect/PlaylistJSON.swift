import HLSKitCore

/// A playlist as one JSON object. Values that are absent, empty or false are left out.
enum PlaylistJSON {
    static let formatVersion = 1

    /// - Parameter steering: nil where it is not steered, or nobody was asked.
    static func document(_ playlist: Playlist, _ steering: SteeringReport? = nil) -> JSONValue {
        switch playlist {
        case .media(let playlist): document(playlist)
        case .multivariant(let playlist): document(playlist, steering)
        }
    }

    static func document(_ failure: PlaylistInput.Failure) -> JSONValue {
        var object = JSONObject()
        object.add("error", true)
        // A detail that is the line alone says nothing by itself.
        let isPlace = failure.line.map { failure.detail == "line \($0)" } ?? false
        object.add("message", isPlace ? failure.cause : failure.detail ?? failure.cause)
        object.add("line", failure.line)
        object.add("v", formatVersion)
        return object.value
    }

    // MARK: Media playlist

    private static func document(_ playlist: MediaPlaylist) -> JSONValue {
        var object = JSONObject()
        object.add("v", formatVersion)
        object.add("kind", Playlist.Kind.media.rawValue)
        addCommon(
            to: &object, version: playlist.version, independent: playlist.hasIndependentSegments,
            start: playlist.start, definitions: playlist.definitions)
        object.add("targetDuration", playlist.targetDuration)
        object.add("mediaSequence", playlist.mediaSequence)
        object.add("discontinuitySequence", playlist.discontinuitySequence)
        object.add("playlistType", playlist.playlistType?.rawValue.uppercased())
        object.add("endlist", playlist.hasEndList)
        object.add("iFramesOnly", playlist.isIFramesOnly)
        object.add("serverControl", playlist.serverControl.map(value))
        object.add("partTarget", playlist.partTarget)
        object.add("skip", playlist.skip.map(value))
        object.add("segments", playlist.segments.map { value($0, playlist) })
        object.add("parts", playlist.trailingParts.map(value))
        object.add("markers", playlist.upcomingSpliceMarkers.map { .object($0.members) })
        object.add(
            "preloadHints",
            playlist.preloadHints.map { hint in
                var object = JSONObject()
                object.add("type", hint.kind.rawValue)
                object.add("uri", hint.uri)
                object.add("byteRangeStart", hint.byteRangeStart)
                object.add("byteRangeLength", hint.byteRangeLength)
                return object.value
            })
        object.add(
            "renditionReports",
            playlist.renditionReports.map { report in
                var object = JSONObject()
                object.add("uri", report.uri)
                object.add("lastMsn", report.lastMediaSequence)
                object.add("lastPart", report.lastPart)
                return object.value
            })
        object.add("dateRanges", playlist.dateRanges.map(value))
        object.add("warnings", playlist.issues.map(value))
        return object.value
    }

    private static func addCommon(
        to object: inout JSONObject, version: Int?, independent: Bool, start: StartPoint?,
        definitions: [VariableDefinition]
    ) {
        object.add("version", version)
        object.add("independentSegments", independent)
        if let start {
            var value = JSONObject()
            value.add("timeOffset", start.timeOffset)
            value.add("precise", start.isPrecise)
            object.add("start", value.value)
        }
        var variables = JSONObject()
        for definition in definitions { variables.add(definition.name, JSONValue.string(definition.value)) }
        if !definitions.isEmpty { object.add("definitions", variables.value) }
    }

    private static func value(_ control: ServerControl) -> JSONValue {
        var object = JSONObject()
        object.add("canBlockReload", control.canBlockReload)
        object.add("canSkipUntil", control.canSkipUntil)
        object.add("canSkipDateRanges", control.canSkipDateRanges)
        object.add("holdBack", control.holdBack)
        object.add("partHoldBack", control.partHoldBack)
        return object.value
    }

    private static func value(_ skip: PlaylistSkip) -> JSONValue {
        var object = JSONObject()
        object.add("skippedSegments", skip.count)
        object.add("recentlyRemovedDateRanges", skip.recentlyRemovedDateRanges.map(JSONValue.string))
        return object.value
    }

    private static func value(_ segment: MediaSegment, _ playlist: MediaPlaylist) -> JSONValue {
        var object = JSONObject()
        object.add("uri", JSONValue.string(segment.uri))
        object.add("resolvedUri", playlist.resolve(segment.uri))
        object.add("duration", segment.duration)
        object.add("title", segment.title)
        object.add("mediaSequence", segment.mediaSequence)
        object.add("discontinuitySequence", segment.discontinuitySequence)
        object.add("discontinuity", segment.hasDiscontinuity)
        object.add("gap", segment.isGap)
        object.add("bitrate", segment.bitRate.map { $0 / 1000 })
        object.add("byteRange", segment.byteRange.map(value))
        let keys = segment.keys
        if let key = keys.first(where: { $0.effectiveKeyFormat == "identity" }) ?? keys.first {
            object.add("key", value(key, playlist.resolve))
            if keys.count > 1 { object.add("keys", keys.map { value($0, playlist.resolve) }) }
            if key.effectiveKeyFormat == "identity", key.method == .aes128 {
                object.add("effectiveIv", hexadecimal(segment.initializationVector(for: key)))
            }
        }
        object.add("map", segment.map.map { value($0, playlist) })
        object.add("programDateTime", segment.programDateTime)
        object.add("derivedProgramDateTime", segment.derivedProgramDateTime)
        object.add("parts", segment.parts.map(value))
        object.add("markers", segment.spliceMarkers.map { .object($0.members) })
        return object.value
    }

    private static func value(_ range: ByteRange) -> JSONValue {
        ["length": .integer(range.length), "offset": .integer(range.offset)]
    }

    private static func value(_ map: MediaInitializationSection, _ playlist: MediaPlaylist) -> JSONValue {
        var object = JSONObject()
        object.add("uri", map.uri)
        object.add("resolvedUri", playlist.resolve(map.uri))
        object.add("byteRange", map.byteRange.map(value))
        return object.value
    }

    private static func value(_ part: PartialSegment) -> JSONValue {
        var object = JSONObject()
        object.add("uri", part.uri)
        object.add("duration", part.duration)
        object.add("independent", part.isIndependent)
        object.add("gap", part.isGap)
        object.add("byteRange", part.byteRange.map(value))
        return object.value
    }

    static func value(_ key: EncryptionKey, _ resolve: (String) -> String?) -> JSONValue {
        var object = JSONObject()
        object.add("method", key.method.rawValue)
        object.add("uri", key.uri)
        object.add("resolvedUri", key.uri.flatMap(resolve))
        object.add("iv", key.iv.map(hexadecimal))
        object.add("keyFormat", key.keyFormat)
        object.add("keyFormatVersions", key.keyFormatVersions)
        return object.value
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.reduce(into: "0x") { text, byte in
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }

    private static func value(_ issue: PlaylistIssue) -> JSONValue {
        var object = JSONObject()
        object.add("line", issue.line)
        object.add("severity", issue.severity.rawValue)
        object.add("rule", issue.rule.rawValue)
        object.add("message", issue.description)
        return object.value
    }

    // MARK: Date ranges

    private static func value(_ range: DateRange) -> JSONValue {
        var object = JSONObject()
        object.add("id", range.id)
        object.add("class", range.class)
        object.add("startDate", range.startDate)
        object.add("endDate", range.endDate)
        object.add("duration", range.duration)
        object.add("plannedDuration", range.plannedDuration)
        object.add("cue", range.cue.map { .string($0.rawValue) })
        object.add("endOnNext", range.endsOnNext)
        object.add("scte35Cmd", range.scte35Command)
        object.add("scte35Out", range.scte35Out)
        object.add("scte35In", range.scte35In)
        var splices = JSONObject()
        splices.add("cmd", range.spliceCommand?.json())
        splices.add("out", range.spliceOut?.json())
        splices.add("in", range.spliceIn?.json())
        if !splices.members.isEmpty { object.add("splice", splices.value) }
        var client = JSONObject()
        for attribute in range.clientAttributes { client.add(attribute.name, JSONValue.string(attribute.value)) }
        object.add("clientAttributes", client.value)
        object.add("interstitial", range.interstitial.map(value))
        return object.value
    }

    private static func value(_ interstitial: Interstitial) -> JSONValue {
        var object = JSONObject()
        object.add("assetUri", interstitial.assetURI)
        object.add("assetList", interstitial.assetList)
        object.add("resumeOffset", interstitial.resumeOffset)
        object.add("playoutLimit", interstitial.playoutLimit)
        object.add("snap", [interstitial.snapsOut ? "OUT" : nil, interstitial.snapsIn ? "IN" : nil].compactMap { $0 })
        object.add(
            "restrict",
            [interstitial.restrictsSkip ? "SKIP" : nil, interstitial.restrictsJump ? "JUMP" : nil].compactMap { $0 })
        object.add("contentMayVary", JSONValue.bool(interstitial.contentMayVary))
        object.add("timelineOccupies", interstitial.timelineOccupies.rawValue)
        object.add("timelineStyle", interstitial.timelineStyle.rawValue)
        object.add("skipControlOffset", interstitial.skipControlOffset)
        object.add("skipControlDuration", interstitial.skipControlDuration)
        object.add("skipControlLabelId", interstitial.skipControlLabelID)
        return object.value
    }

    // MARK: Multivariant playlist

    private static func document(_ playlist: MultivariantPlaylist, _ report: SteeringReport?) -> JSONValue {
        var object = JSONObject()
        object.add("v", formatVersion)
        object.add("kind", Playlist.Kind.multivariant.rawValue)
        addCommon(
            to: &object, version: playlist.version, independent: playlist.hasIndependentSegments,
            start: playlist.start, definitions: playlist.definitions)
        object.add("variants", playlist.variants.map { value($0, playlist) })
        object.add("iFrameVariants", playlist.iFrameVariants.map { value($0, playlist) })
        object.add("renditions", playlist.renditions.map { value($0, playlist) })
        object.add("sessionData", playlist.sessionData.map(value))
        object.add("sessionKeys", playlist.sessionKeys.map { value($0, playlist.resolve) })
        if let steering = playlist.contentSteering {
            var value = JSONObject()
            value.add("serverUri", steering.serverURI)
            value.add("resolvedServerUri", playlist.resolve(steering.serverURI))
            value.add("pathwayId", steering.pathwayID)
            if let report { value.add("manifest", report.value) }
            object.add("contentSteering", value.value)
        }
        object.add("warnings", playlist.issues.map(value))
        return object.value
    }

    private static func value(_ variant: Variant, _ playlist: MultivariantPlaylist) -> JSONValue {
        var object = JSONObject()
        object.add("uri", variant.uri)
        object.add("resolvedUri", playlist.resolve(variant.uri))
        object.add("bandwidth", variant.bandwidth == 0 ? nil : variant.bandwidth)
        object.add("averageBandwidth", variant.averageBandwidth)
        object.add("score", variant.score.map(JSONValue.number))
        object.add("codecs", variant.codecsText)
        object.add("supplementalCodecs", variant.supplementalCodecs)
        if let resolution = variant.resolution {
            object.add("resolution", ["width": .integer(resolution.width), "height": .integer(resolution.height)])
        }
        object.add("frameRate", variant.frameRate.map(JSONValue.number))
        object.add("hdcpLevel", variant.hdcpLevel?.rawValue)
        object.add("allowedCpc", variant.allowedCPC)
        object.add("videoRange", variant.videoRange?.rawValue)
        object.add("reqVideoLayout", variant.requiredVideoLayout)
        object.add("stableVariantId", variant.stableVariantID)
        object.add("audio", variant.audio)
        object.add("video", variant.video)
        object.add("subtitles", variant.subtitles)
        switch variant.closedCaptions {
        case nil: break
        case ClosedCaptions.none?: object.add("closedCaptions", "NONE")
        case .group(let group)?: object.add("closedCaptions", group)
        }
        object.add("pathwayId", variant.pathwayID)
        object.add("name", variant.name)
        return object.value
    }

    private static func value(_ rendition: Rendition, _ playlist: MultivariantPlaylist) -> JSONValue {
        var object = JSONObject()
        object.add("type", rendition.type.rawValue)
        object.add("groupId", rendition.groupID)
        object.add("name", rendition.name)
        object.add("uri", rendition.uri)
        object.add("resolvedUri", rendition.uri.flatMap(playlist.resolve))
        object.add("language", rendition.language)
        object.add("assocLanguage", rendition.assocLanguage)
        object.add("stableRenditionId", rendition.stableRenditionID)
        object.add("default", rendition.isDefault)
        object.add("autoselect", rendition.isAutoselect)
        object.add("forced", rendition.isForced)
        object.add("instreamId", rendition.instreamID)
        object.add("bitDepth", rendition.bitDepth)
        object.add("sampleRate", rendition.sampleRate)
        object.add("characteristics", rendition.characteristicsText)
        object.add("channels", rendition.channels)
        return object.value
    }

    private static func value(_ data: SessionData) -> JSONValue {
        var object = JSONObject()
        object.add("dataId", data.dataID)
        object.add("value", data.value)
        object.add("uri", data.uri)
        object.add("format", data.format)
        object.add("language", data.language)
        return object.value
    }
}

/// An object in the making.
struct JSONObject {
    private(set) var members: [JSONValue.Member] = []
    var value: JSONValue { .object(members) }

    mutating func add(_ name: String, _ value: JSONValue?) {
        if let value { members.append(.init(name: name, value: value)) }
    }
    mutating func add(_ name: String, _ value: String?) {
        if let value, !value.isEmpty { add(name, JSONValue.string(value)) }
    }
    mutating func add(_ name: String, _ value: Int?) { add(name, value.map(JSONValue.integer)) }
    mutating func add(_ name: String, _ value: Bool) { if value { add(name, JSONValue.bool(true)) } }
    mutating func add(_ name: String, _ value: Duration?) {
        guard let value else { return }
        let (seconds, attoseconds) = value.components
        add(name, attoseconds == 0 ? .integer(Int(seconds)) : .number(Double(seconds) + Double(attoseconds) / 1e18))
    }
    mutating func add(_ name: String, _ values: [JSONValue]) {
        if !values.isEmpty { add(name, JSONValue.array(values)) }
    }
    /// With milliseconds, since readers of the format expect three decimals.
    mutating func add(_ name: String, _ date: PlaylistDate?) {
        guard let date else { return }
        let milliseconds = PlaylistDate(
            seconds: date.seconds,
            attoseconds: (date.attoseconds + 500_000_000_000_000) / 1_000_000_000_000_000
                * 1_000_000_000_000_000)
        add(name, JSONValue.string(milliseconds.description))
    }
}
