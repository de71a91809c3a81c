package import HLSKitCore

extension SpliceInformation {
    /// The known values of the section, with times in seconds; unknown members are omitted.
    ///
    /// - Parameter itemTime: The time of the splice, if the section's clock matches the media.
    package func json(itemTime: Double? = nil) -> JSONValue {
        var object = JSONObject()
        object.add("command", commandType.map { "\($0)" } ?? "encrypted")
        object.add("item_time", itemTime.map(JSONValue.number))
        object.add("pts", spliceTime.map { JSONValue.integer(Int($0.value)) })
        if let insert {
            object.add("event_id", Int(insert.eventID))
            object.add("cancelled", insert.isCancelled)
            object.add("out", JSONValue.bool(insert.isOutOfNetwork))
            object.add("immediate", insert.isImmediate)
            object.add("break_duration", insert.breakDuration?.duration)
            object.add("auto_return", insert.returnsAutomatically)
        }
        object.add("segmentations", segmentations.map(\.json))
        if !hasValidChecksum { object.add("checksum", JSONValue.string("wrong")) }
        object.add("base64", base64Text)
        return object.value
    }
}

extension SpliceSegmentation {
    fileprivate var json: JSONValue {
        var object = JSONObject()
        object.add("event_id", Int(eventID))
        object.add("cancelled", isCancelled)
        if !isCancelled {
            object.add("type", Int(type.rawValue))
            object.add("name", "\(type)")
            object.add("duration", duration?.duration)
            object.add("upid_type", upidType == 0 ? nil : Int(upidType))
            object.add("upid", upidText ?? (upid.isEmpty ? nil : "0x" + upid.hexadecimalText))
            object.add("segment", number == 0 ? nil : number)
            object.add("segments", count == 0 ? nil : count)
        }
        return object.value
    }
}

extension SpliceMarker {
    package var members: [JSONValue.Member] {
        var object = JSONObject()
        object.add("tag", tag)
        object.add("kind", kind.rawValue)
        object.add("value", Redaction.text(value))
        object.add("duration", duration)
        object.add("elapsed", elapsed)
        object.add("id", id.map(Redaction.text))
        object.add("splice", spliceInformation?.json())
        return object.members
    }
}

extension TimedMetadataGroup {
    var members: [JSONValue.Member] {
        var object = JSONObject()
        object.add("item_time", timeRange.start.finiteSeconds.map(JSONValue.number))
        object.add("media_duration", timeRange.duration.finiteSeconds.map(JSONValue.number))
        object.add(
            "items",
            items.map { item in
                var value = JSONObject()
                value.add("identifier", Redaction.text(item.identifier))
                switch item.heldValue {
                case .string(let text): value.add("value", Redaction.text(text))
                case .number(let number): value.add("value", JSONValue.number(number))
                case .data(let bytes): value.add("bytes", bytes.count)
                case .json, nil: break
                }
                return value.value
            })
        object.add("splice", spliceInformation?.json(itemTime: spliceTime?.finiteSeconds))
        return object.members
    }
}
