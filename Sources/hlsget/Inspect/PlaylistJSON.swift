import HLSGetKit
import HLSKitCore

/// Formats a playlist as a JSON object without absent, empty or false values.
enum PlaylistJSON {
    static let formatVersion = 1

    /// - Parameters:
    ///   - steering: The steering report, or `nil` if there is no steering or no server was queried.
    ///   - encryption: The encryption of a multivariant playlist's media, or `nil` if it is unknown.
    ///   - tracks: The tracks of a media playlist, or `nil` if no segment was loaded.
    static func document(
        _ playlist: Playlist, _ steering: SteeringReport? = nil, _ encryption: StreamEncryption? = nil,
        tracks: SegmentTracks? = nil
    ) -> JSONValue {
        switch playlist {
        case .media(let playlist): document(playlist, tracks)
        case .multivariant(let playlist): document(playlist, steering, encryption)
        }
    }

    /// Formats an error with the same members as in `play`, and its line number.
    static func document(_ failure: PlaylistInput.Failure, name: String) -> JSONValue {
        var error = JSONObject()
        error.add("code", failure.code.rawValue)
        error.add("cause", failure.cause)
        error.add("url", ErrorLine.bare(url: failure.url ?? name))
        error.add("detail", failure.detail)
        error.add("line", failure.line)
        return ["v": .integer(formatVersion), "url": .string(ErrorLine.bare(url: name)), "error": error.value]
    }

    // MARK: Media playlist

    private static func document(_ playlist: MediaPlaylist, _ tracks: SegmentTracks?) -> JSONValue {
        var object = JSONObject()
        object.add("v", formatVersion)
        object.add("kind", Playlist.Kind.media.rawValue)
        addCommon(
            to: &object, version: playlist.version, independent: playlist.hasIndependentSegments,
            start: playlist.start, definitions: playlist.definitions)
        object.add("target_duration", playlist.targetDuration)
        object.add("media_sequence", playlist.mediaSequence)
        object.add("discontinuity_sequence", playlist.discontinuitySequence)
        object.add("playlist_type", playlist.playlistType?.rawValue.uppercased())
        object.add("endlist", playlist.hasEndList)
        object.add("i_frames_only", playlist.isIFramesOnly)
        object.add("server_control", playlist.serverControl.map(value))
        object.add("part_target", playlist.partTarget)
        object.add("skip", playlist.skip.map(value))
        for member in tracks?.members ?? [] { object.add(member.name, member.value) }
        object.add("segments", playlist.segments.map { value($0, playlist) })
        object.add("parts", playlist.trailingParts.map(value))
        object.add("markers", playlist.upcomingSpliceMarkers.map { .object($0.members) })
        object.add(
            "preload_hints",
            playlist.preloadHints.map { hint in
                var object = JSONObject()
                object.add("type", hint.kind.rawValue)
                object.add("uri", hint.uri)
                object.add("byte_range_start", hint.byteRangeStart)
                object.add("byte_range_length", hint.byteRangeLength)
                return object.value
            })
        object.add(
            "rendition_reports",
            playlist.renditionReports.map { report in
                var object = JSONObject()
                object.add("uri", report.uri)
                object.add("last_msn", report.lastMediaSequence)
                object.add("last_part", report.lastPart)
                return object.value
            })
        object.add("date_ranges", playlist.dateRanges.map(value))
        object.add("warnings", playlist.issues.map(value))
        return object.value
    }

    private static func addCommon(
        to object: inout JSONObject, version: Int?, independent: Bool, start: StartPoint?,
        definitions: [VariableDefinition]
    ) {
        object.add("version", version)
        object.add("independent_segments", independent)
        if let start {
            var value = JSONObject()
            value.add("time_offset", start.timeOffset)
            value.add("precise", start.isPrecise)
            object.add("start", value.value)
        }
        var variables = JSONObject()
        for definition in definitions { variables.add(definition.name, JSONValue.string(definition.value)) }
        if !definitions.isEmpty { object.add("definitions", variables.value) }
    }

    private static func value(_ control: ServerControl) -> JSONValue {
        var object = JSONObject()
        object.add("can_block_reload", control.canBlockReload)
        object.add("can_skip_until", control.canSkipUntil)
        object.add("can_skip_date_ranges", control.canSkipDateRanges)
        object.add("hold_back", control.holdBack)
        object.add("part_hold_back", control.partHoldBack)
        return object.value
    }

    private static func value(_ skip: PlaylistSkip) -> JSONValue {
        var object = JSONObject()
        object.add("skipped_segments", skip.count)
        object.add("recently_removed_date_ranges", skip.recentlyRemovedDateRanges.map(JSONValue.string))
        return object.value
    }

    private static func value(_ segment: MediaSegment, _ playlist: MediaPlaylist) -> JSONValue {
        var object = JSONObject()
        object.add("uri", JSONValue.string(segment.uri))
        object.add("resolved_uri", playlist.resolve(segment.uri))
        object.add("duration", segment.duration)
        object.add("title", segment.title)
        object.add("media_sequence", segment.mediaSequence)
        object.add("discontinuity_sequence", segment.discontinuitySequence)
        object.add("discontinuity", segment.hasDiscontinuity)
        object.add("gap", segment.isGap)
        object.add("bitrate", segment.bitRate.map { $0 / 1000 })
        object.add("byte_range", segment.byteRange.map(value))
        let keys = segment.keys
        if let key = keys.first(where: { $0.effectiveKeyFormat == "identity" }) ?? keys.first {
            object.add("key", value(key, playlist.resolve))
            if keys.count > 1 { object.add("keys", keys.map { value($0, playlist.resolve) }) }
            if key.effectiveKeyFormat == "identity", key.method == .aes128 {
                object.add("effective_iv", hexadecimal(segment.initializationVector(for: key)))
            }
        }
        object.add("map", segment.map.map { value($0, playlist) })
        object.add("program_date_time", segment.programDateTime)
        object.add("derived_program_date_time", segment.derivedProgramDateTime)
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
        object.add("resolved_uri", playlist.resolve(map.uri))
        object.add("byte_range", map.byteRange.map(value))
        return object.value
    }

    private static func value(_ part: PartialSegment) -> JSONValue {
        var object = JSONObject()
        object.add("uri", part.uri)
        object.add("duration", part.duration)
        object.add("independent", part.isIndependent)
        object.add("gap", part.isGap)
        object.add("byte_range", part.byteRange.map(value))
        return object.value
    }

    static func value(_ key: EncryptionKey, _ resolve: (String) -> String?) -> JSONValue {
        var object = JSONObject()
        object.add("method", key.method.rawValue)
        object.add("uri", key.uri)
        object.add("resolved_uri", key.uri.flatMap(resolve))
        object.add("iv", key.iv.map(hexadecimal))
        object.add("key_format", key.keyFormat)
        object.add("key_format_versions", key.keyFormatVersions)
        return object.value
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String { "0x" + bytes.hexadecimalText }

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
        object.add("start_date", range.startDate)
        object.add("end_date", range.endDate)
        object.add("duration", range.duration)
        object.add("planned_duration", range.plannedDuration)
        object.add("cue", range.cue.map { .string($0.rawValue) })
        object.add("end_on_next", range.endsOnNext)
        object.add("scte35_cmd", range.scte35Command)
        object.add("scte35_out", range.scte35Out)
        object.add("scte35_in", range.scte35In)
        var splices = JSONObject()
        splices.add("cmd", range.spliceCommand?.json())
        splices.add("out", range.spliceOut?.json())
        splices.add("in", range.spliceIn?.json())
        if !splices.members.isEmpty { object.add("splice", splices.value) }
        var client = JSONObject()
        for attribute in range.clientAttributes { client.add(attribute.name, JSONValue.string(attribute.value)) }
        object.add("client_attributes", client.value)
        object.add("interstitial", range.interstitial.map(value))
        return object.value
    }

    private static func value(_ interstitial: Interstitial) -> JSONValue {
        var object = JSONObject()
        object.add("asset_uri", interstitial.assetURI)
        object.add("asset_list", interstitial.assetList)
        object.add("resume_offset", interstitial.resumeOffset)
        object.add("playout_limit", interstitial.playoutLimit)
        object.add("snap", [interstitial.snapsOut ? "OUT" : nil, interstitial.snapsIn ? "IN" : nil].compactMap { $0 })
        object.add(
            "restrict",
            [interstitial.restrictsSkip ? "SKIP" : nil, interstitial.restrictsJump ? "JUMP" : nil].compactMap { $0 })
        object.add("content_may_vary", JSONValue.bool(interstitial.contentMayVary))
        object.add("timeline_occupies", interstitial.timelineOccupies.rawValue)
        object.add("timeline_style", interstitial.timelineStyle.rawValue)
        object.add("skip_control_offset", interstitial.skipControlOffset)
        object.add("skip_control_duration", interstitial.skipControlDuration)
        object.add("skip_control_label_id", interstitial.skipControlLabelID)
        return object.value
    }

    // MARK: Multivariant playlist

    private static func document(
        _ playlist: MultivariantPlaylist, _ report: SteeringReport?, _ encryption: StreamEncryption?
    ) -> JSONValue {
        var object = JSONObject()
        object.add("v", formatVersion)
        object.add("kind", Playlist.Kind.multivariant.rawValue)
        addCommon(
            to: &object, version: playlist.version, independent: playlist.hasIndependentSegments,
            start: playlist.start, definitions: playlist.definitions)
        object.add("encryption", (encryption?.methods ?? []).map(JSONValue.string))
        object.add("variants", playlist.variants.map { value($0, playlist) })
        object.add("i_frame_variants", playlist.iFrameVariants.map { value($0, playlist) })
        object.add("renditions", playlist.renditions.map { value($0, playlist) })
        object.add("session_data", playlist.sessionData.map(value))
        object.add("session_keys", playlist.sessionKeys.map { value($0, playlist.resolve) })
        if let steering = playlist.contentSteering {
            var value = JSONObject()
            value.add("server_uri", steering.serverURI)
            value.add("resolved_server_uri", playlist.resolve(steering.serverURI))
            value.add("pathway_id", steering.pathwayID)
            if let report { value.add("manifest", report.value) }
            object.add("content_steering", value.value)
        }
        object.add("warnings", playlist.issues.map(value))
        return object.value
    }

    private static func value(_ variant: VariantStream, _ playlist: MultivariantPlaylist) -> JSONValue {
        var object = JSONObject()
        object.add("uri", variant.uri)
        object.add("resolved_uri", playlist.resolve(variant.uri))
        object.add("bandwidth", variant.bandwidth == 0 ? nil : variant.bandwidth)
        object.add("average_bandwidth", variant.averageBandwidth)
        object.add("score", variant.score.map(JSONValue.number))
        object.add("codecs", variant.codecsText)
        object.add("supplemental_codecs", variant.supplementalCodecs)
        if let resolution = variant.resolution {
            object.add("resolution", ["width": .integer(resolution.width), "height": .integer(resolution.height)])
        }
        object.add("frame_rate", variant.frameRate.map(JSONValue.number))
        object.add("hdcp_level", variant.hdcpLevel?.rawValue)
        object.add("allowed_cpc", variant.allowedCPC)
        object.add("video_range", variant.videoRange?.rawValue)
        object.add("req_video_layout", variant.requiredVideoLayout)
        object.add("stable_variant_id", variant.stableVariantID)
        object.add("audio", variant.audio)
        object.add("video", variant.video)
        object.add("subtitles", variant.subtitles)
        switch variant.closedCaptions {
        case nil: break
        case ClosedCaptions.none?: object.add("closed_captions", "NONE")
        case .group(let group)?: object.add("closed_captions", group)
        }
        object.add("pathway_id", variant.pathwayID)
        object.add("name", variant.name)
        return object.value
    }

    private static func value(_ rendition: Rendition, _ playlist: MultivariantPlaylist) -> JSONValue {
        var object = JSONObject()
        object.add("type", rendition.type.rawValue)
        object.add("group_id", rendition.groupID)
        object.add("name", rendition.name)
        object.add("uri", rendition.uri)
        object.add("resolved_uri", rendition.uri.flatMap(playlist.resolve))
        object.add("language", rendition.language)
        object.add("assoc_language", rendition.assocLanguage)
        object.add("stable_rendition_id", rendition.stableRenditionID)
        object.add("default", rendition.isDefault)
        object.add("autoselect", rendition.isAutoselect)
        object.add("forced", rendition.isForced)
        object.add("instream_id", rendition.instreamID)
        object.add("bit_depth", rendition.bitDepth)
        object.add("sample_rate", rendition.sampleRate)
        object.add("characteristics", rendition.characteristicsText)
        object.add("channels", rendition.channels)
        return object.value
    }

    private static func value(_ data: MultivariantPlaylist.SessionData) -> JSONValue {
        var object = JSONObject()
        object.add("data_id", data.dataID)
        object.add("value", data.value)
        object.add("uri", data.uri)
        object.add("format", data.format)
        object.add("language", data.language)
        return object.value
    }
}
